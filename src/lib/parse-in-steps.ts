// JSON of many megabytes parsed a stretch at a time, to what JSON.parse makes of it: that is one step, and takes 50 ms for the 14 MB that
// a provider says 60,000 words in. Brackets, strings and commas are looked for here; every stretch between two commas is JSON.parse's.
import type { Steps } from "./steps.ts";

const STRETCH_CHARACTERS = 128 * 1024;
/** Deeper ones are no answer of anybody's, and are parsed in one step as they would be without this. */
const MAX_DEPTH = 256;

const QUOTE = 34;
const COMMA = 44;
const LEFT_BRACKET = 91;
const BACKSLASH = 92;
const RIGHT_BRACKET = 93;
const LEFT_BRACE = 123;
const RIGHT_BRACE = 125;

/** A list or an object whose end has not come. */
interface Open {
  readonly isList: boolean;
  /** Of its bracket. */
  readonly at: number;
  /** What stands before it is in `value`. */
  from: number;
  /** Behind its last comma. */
  memberAt: number;
  /** Null: none of it was parsed, and perhaps none will be before what it stands in. */
  value: unknown[] | Record<string, unknown> | null;
  /** Its last member was parsed for itself: nothing but a comma or the end may follow. */
  isFilled: boolean;
}

/** Throws a SyntaxError where JSON.parse does. */
export function* parsing(text: string, stretch = STRETCH_CHARACTERS): Steps<unknown> {
  const root = opened(-1, true);
  const stack = [root];
  let top = root;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at);
        break;
      case LEFT_BRACE:
      case LEFT_BRACKET:
        if (stack.length > MAX_DEPTH) return JSON.parse(text);
        top = opened(at, text.charCodeAt(at) === LEFT_BRACKET);
        stack.push(top);
        break;
      case RIGHT_BRACE:
      case RIGHT_BRACKET: {
        const closed = stack.pop();
        const around = stack.at(-1);
        if (closed === undefined || around === undefined) throw unexpected(at);
        if (closed.isList !== (text.charCodeAt(at) === RIGHT_BRACKET)) throw unexpected(at);
        top = around;
        if (closed.value === null) break;
        take(closed, text, at);
        place(around, closed, text, at);
        yield;
        break;
      }
      case COMMA:
        if (top === root) throw unexpected(at);
        if (top.isFilled || at - top.from > stretch) {
          take(top, text, at);
          yield;
        }
        top.memberAt = at + 1;
        break;
    }
  }
  if (top !== root) throw unexpected(text.length);
  if (!Array.isArray(root.value)) return JSON.parse(text);
  if (!isBlank(text, root.from, text.length)) throw unexpected(root.from);
  return root.value[0];
}

function opened(at: number, isList: boolean): Open {
  return { isList, at, from: at + 1, memberAt: at + 1, value: null, isFilled: false };
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const character = text.charCodeAt(at);
    if (character === QUOTE) return at;
    if (character === BACKSLASH) at += 1;
  }
  throw unexpected(text.length);
}

/** The members up to a comma or the end, of which there has to be one. */
function take(open: Open, text: string, to: number): void {
  open.value ??= open.isList ? [] : {};
  if (open.isFilled) {
    if (!isBlank(text, open.from, to)) throw unexpected(open.from);
  } else if (Array.isArray(open.value)) {
    const items = JSON.parse(`[${text.slice(open.from, to)}]`) as readonly unknown[];
    if (items.length === 0) throw unexpected(to);
    for (const item of items) open.value.push(item);
  } else {
    const members = Object.entries(JSON.parse(`{${text.slice(open.from, to)}}`) as Record<string, unknown>);
    if (members.length === 0) throw unexpected(to);
    for (const [name, member] of members) define(open.value, name, member);
  }
  open.from = to + 1;
  open.isFilled = false;
}

/** What was parsed for itself becomes a member of what it stands in. */
function place(around: Open, closed: Open, text: string, end: number): void {
  if (around.memberAt > around.from) take(around, text, around.memberAt - 1);
  around.value ??= around.isList ? [] : {};
  if (around.isFilled) throw unexpected(closed.at);
  if (Array.isArray(around.value)) {
    if (!isBlank(text, around.from, closed.at)) throw unexpected(closed.at);
    around.value.push(closed.value);
  } else define(around.value, nameIn(text, around.from, closed.at), closed.value);
  around.from = end + 1;
  around.isFilled = true;
}

/** `"name":`, with blanks around each. */
function nameIn(text: string, from: number, to: number): string {
  const [name, ...others] = Object.keys(JSON.parse(`{${text.slice(from, to)}[]}`) as object);
  if (name === undefined || others.length > 0) throw unexpected(to);
  return name;
}

function define(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== "__proto__") object[name] = value;
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}

function isBlank(text: string, from: number, to: number): boolean {
  return /^[ \t\n\r]*$/u.test(text.slice(from, to));
}

function unexpected(at: number): SyntaxError {
  return new SyntaxError(`Unexpected JSON at position ${at}`);
}
