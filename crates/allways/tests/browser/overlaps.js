// What overlaps in a picture of a graph: texts with texts, texts with boxes that are not theirs, boxes with boxes.
(() => {
  const svg = document.documentElement;
  const things = [...svg.querySelectorAll("text"), ...svg.querySelectorAll(".node rect")].map((element) => {
    const { left, top, right, bottom } = element.getBoundingClientRect();
    // Lines of one text may touch.
    return { element, left: left + 0.5, top: top + 2, right: right - 0.5, bottom: bottom - 2 };
  });
  const width = Number(svg.getAttribute("width")), height = Number(svg.getAttribute("height"));
  const name = ({ element }) => element.textContent || element.parentNode.textContent.trim();
  const found = [];
  things.forEach((one, index) => {
    if (one.left < 0 || one.top < 0 || one.right > width || one.bottom > height) found.push(["sticks out", name(one)]);
    for (const other of things.slice(0, index)) {
      const own = one.element.parentNode === other.element.parentNode && one.element.tagName !== other.element.tagName;
      const apart = one.right <= other.left || other.right <= one.left || one.bottom <= other.top || other.bottom <= one.top;
      if (!own && !apart) found.push([name(one), name(other)]);
    }
  });
  return found;
})()
