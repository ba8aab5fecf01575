// Shows the current request as code.
import { byId, copyButton, element } from "../page/element.ts";
import { type CodeRequest, codeOf, LANGUAGES } from "./code.ts";

export function showCode(codeRequest: Pick<CodeRequest, "audio" | "entries" | "fields">): void {
  // Sources (`.ts`) are served by a checkout, which has no command of its own.
  const patchbay = import.meta.url.endsWith(".ts") ? ("npm run patchbay --" as const) : ("patchbay" as const);
  const request = { origin: location.origin, patchbay, ...codeRequest };
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
