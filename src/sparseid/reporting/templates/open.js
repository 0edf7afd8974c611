// A link to something in folded parts unfolds them.
(() => {
  const open = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let part = target; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
    target?.scrollIntoView();
  };
  addEventListener("hashchange", open);
  if (location.hash) open();
})();
