// Short texts about a key: its visible characters, state and last use.
import type { KeyView } from "../contract/admin/keys.ts";
import { element } from "../page/element.ts";
import { fileTag, tag } from "./owner-view.ts";
import { mark, timeView } from "./words.ts";

/** The part of a key that may be shown after its creation. */
export const partsOf = ({ prefix, last4 }: Pick<KeyView, "prefix" | "last4">): string => `${prefix}…${last4}`;

export const isTest = ({ prefix }: KeyView): boolean => prefix === "svc_test_";

export function keyTags(key: KeyView, ownKey: string | null): readonly Node[] {
  return [...(isTest(key) ? [tag("test")] : []), ...(key.id === ownKey ? [tag("your key")] : []), ...fileTag(key)];
}

/** `isReplaced`: a rotated key with a successor. */
export function stateView({ state, expires_at: end, revoked_at: revoked }: KeyView, isReplaced: boolean): Node {
  switch (state) {
    case "revoked":
      return stated(mark(isReplaced ? "soft" : "bad", isReplaced ? "replaced" : "revoked"), "on", revoked);
    case "expired":
      return stated(mark("soft", isReplaced ? "replaced" : "expired"), "since", end);
    case "active":
      return stated(mark(isReplaced ? "warn" : "good", isReplaced ? "replaced, still valid" : "active"), "until", end);
  }
}

function stated(word: Node, when: string, time: string | null): Node {
  return time === null
    ? word
    : element("div", {}, word, element("br"), element("span", { class: "soft" }, `${when} `, timeView(time)));
}
