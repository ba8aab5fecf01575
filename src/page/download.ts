// Downloads a file that the page created.
import { element } from "./element.ts";

export function download(name: string, text: string, type = ""): void {
  const href = URL.createObjectURL(new Blob([text], { type }));
  element("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 1_000);
}
