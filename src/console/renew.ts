// Morphs one DOM element into another and changes only what differs, so that focus and opened details stay.

/** Listeners of `old` remain, so they must not depend on anything that changes. */
export function renew(old: Element, fresh: Element): void {
  if (old.isEqualNode(fresh)) return;
  const [oldNodes, newNodes] = [[...old.childNodes], [...fresh.childNodes]];
  const isAlike =
    old.tagName === fresh.tagName &&
    oldNodes.length === newNodes.length &&
    oldNodes.every(({ nodeName }, at) => nodeName === newNodes[at]?.nodeName);
  if (!isAlike) return old.replaceWith(fresh);
  renewAttributes(old, fresh);
  for (const [at, child] of oldNodes.entries()) {
    const next = newNodes[at];
    if (child instanceof Element && next instanceof Element) renew(child, next);
    else if (next !== undefined && child.nodeValue !== next.nodeValue) child.nodeValue = next.nodeValue;
  }
}

/** Whether it is open is the user's choice. */
const ITS_READERS = "open";

function renewAttributes(old: Element, fresh: Element): void {
  for (const name of old.getAttributeNames())
    if (name !== ITS_READERS && !fresh.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes)
    if (name !== ITS_READERS && old.getAttribute(name) !== value) old.setAttribute(name, value);
}
