// Makes one element what another is, and touches only what differs: focus, and what was opened, stay where they are.

/** Listeners stay those of `old`: they must go by what does not change. */
export function renew(old: Element, fresh: Element): void {
  if (old.isEqualNode(fresh)) return;
  const [was, is] = [[...old.childNodes], [...fresh.childNodes]];
  const isAlike =
    old.tagName === fresh.tagName &&
    was.length === is.length &&
    was.every(({ nodeName }, at) => nodeName === is[at]?.nodeName);
  if (!isAlike) return old.replaceWith(fresh);
  renewAttributes(old, fresh);
  for (const [at, child] of was.entries()) {
    const next = is[at];
    if (child instanceof Element && next instanceof Element) renew(child, next);
    else if (next !== undefined && child.nodeValue !== next.nodeValue) child.nodeValue = next.nodeValue;
  }
}

/** Whether it is open is its reader's. */
const ITS_READERS = "open";

function renewAttributes(old: Element, fresh: Element): void {
  for (const name of old.getAttributeNames())
    if (name !== ITS_READERS && !fresh.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes)
    if (name !== ITS_READERS && old.getAttribute(name) !== value) old.setAttribute(name, value);
}
