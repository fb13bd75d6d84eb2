// Light or dark, as chosen in this browser; it runs before the page is drawn, so that nothing flashes.

(() => {
  const NAME = "whycite-theme";
  let theme = "";

  function apply() {
    try {
      theme = localStorage.getItem(NAME) ?? theme;
    } catch {
      // Storage is switched off: the choice holds until the page is left.
    }
    if (theme) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
    const choice = document.getElementById("theme");
    if (choice) choice.value = theme;
  }

  apply();
  window.addEventListener("pageshow", apply); // also after going back to a page that was kept as it was
  document.addEventListener("DOMContentLoaded", () => {
    document.getElementById("theme").addEventListener("change", ({ target }) => {
      theme = target.value;
      try {
        localStorage.setItem(NAME, theme);
      } catch {
        // See above.
      }
      apply();
    });
  });
})();
