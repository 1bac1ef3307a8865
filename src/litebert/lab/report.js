// Reads values back from a chart under the pointer. The page is complete without it.
document.querySelectorAll("svg[data-box]").forEach((svg) => {
  const [left, top, right, bottom] = svg.dataset.box.split(" ").map(Number);
  const side = (text) => {
    const [low, high, kind, ...unit] = text.split(" ");
    return { low: +low, high: +high, log: kind === "log", unit: unit.join(" ") };
  };
  const across = side(svg.dataset.x), up = side(svg.dataset.y);
  const value = (axis, share) => axis.log
    ? axis.low * Math.pow(axis.high / axis.low, share) : axis.low + (axis.high - axis.low) * share;
  const plain = (number) => {
    const size = Math.abs(number);
    if (size >= 10000) return Math.round(number).toLocaleString("en");
    return size && size < 1e-4 ? number.toExponential(2) : String(+number.toPrecision(4));
  };
  const lines = [...svg.querySelectorAll("polyline[data-name]")].map((line) => ({
    name: line.dataset.name, look: [...line.classList].find((name) => /^c\d$/.test(name)),
    points: line.getAttribute("points").split(" ").map((point) => point.split(",").map(Number)),
  }));
  const cursor = document.createElementNS(svg.namespaceURI, "path");
  cursor.setAttribute("class", "cursor");
  const tip = document.createElement("div");
  tip.className = "tip";
  const hide = () => { cursor.remove(); tip.remove(); };
  svg.addEventListener("pointerleave", hide);
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect(), scale = svg.viewBox.baseVal.width / box.width;
    const x = Math.min(right, Math.max(left, (event.clientX - box.left) * scale));
    const rows = lines.map((line) => {
      const near = line.points.reduce((best, point) => Math.abs(point[0] - x) < Math.abs(best[0] - x) ? point : best);
      const row = document.createElement("div");
      const dot = document.createElement("i");
      dot.className = line.look;
      row.append(dot, `${line.name} ${plain(value(up, (bottom - near[1]) / (bottom - top)))} ${up.unit}`);
      return row;
    });
    cursor.setAttribute("d", `M${x} ${top}V${bottom}`);
    svg.append(cursor);
    tip.replaceChildren(`${plain(value(across, (x - left) / (right - left)))} ${across.unit}`, ...rows);
    svg.parentElement.append(tip);
    const place = (event.clientX - svg.parentElement.getBoundingClientRect().left);
    tip.style.top = `${svg.offsetTop || 40}px`;
    tip.style.left = place > box.width / 2 ? "" : `${place + 14}px`;
    tip.style.right = place > box.width / 2 ? `${svg.parentElement.clientWidth - place + 14}px` : "";
  });
});
