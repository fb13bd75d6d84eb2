import { get } from "./common.js";
import { showOriginal } from "./paperview.js";

const { original } = get("paper-page").dataset;
// A PDF is opened when somebody scrolls to it.
if (get("paper")) {
  const watch = new IntersectionObserver(([{ isIntersecting }]) => {
    if (!isIntersecting) return;
    watch.disconnect();
    showOriginal(get("paper"), original, []);
  });
  watch.observe(get("paper"));
}
