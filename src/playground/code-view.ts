// The request as code, as it is chosen now.
import { byId, copyButton, element } from "../page/element.ts";
import { type CodeRequest, codeOf, LANGUAGES } from "./code.ts";

export function showCode(chosen: Pick<CodeRequest, "audio" | "entries" | "fields">): void {
  // Sources are served by a checkout, which has no published package.
  const patchbay = import.meta.url.endsWith(".ts")
    ? ("npm run patchbay --" as const)
    : ("npx patchbay-gateway" as const);
  const request = { origin: location.origin, patchbay, ...chosen };
  byId("code", HTMLElement).replaceChildren(
    ...LANGUAGES.map((language) => {
      const code = codeOf(language, request);
      const head = element(
        "div",
        { class: "row" },
        element("h3", {}, language),
        copyButton(`Copy ${language}`, () => code),
      );
      return element("div", {}, head, element("pre", { "data-language": language }, element("code", {}, code)));
    }),
  );
}
