// Aligns timed pieces (words, segments) with the provider's own text, because a provider may time only some of its words, of some of its speakers, or spell
// them differently [transcription.text-preserved]. Pure.
import { commonSubsequence, type Match } from "../../lib/text/common-subsequence.ts";
import { UNSPACED } from "../../lib/text/join-words.ts";
import { hasSameLetters } from "../../lib/text/has-same-letters.ts";
import type { ProviderWord } from "../../providers/provider.ts";

/**
 * Returns the same pieces, speakers and channels, with texts that together contain all of `text`. Text between two pieces goes to the one that contains its line or
 * sentence it is. Where the spelling differs, that of `text` wins; words that only the pieces contain are kept.
 */
export function alignPiecesToText<P extends ProviderWord>(pieces: readonly P[], text: string): readonly P[] {
  const spoken = pieces.filter((piece) => piece.text.trim() !== "");
  if (spoken.length === 0 || hasSameLetters(spoken.map((piece) => piece.text).join(""), text)) return pieces;
  const written = [...tokensOf(text)];
  const { ordered, tokens, matches } = bestOf(ordersOf(spoken), written);
  return stretchTimes(ordered, spread(tokens, written, matches));
}

interface Token {
  /** As written, including attached punctuation. */
  readonly raw: string;
  /** The normalised form for comparison. */
  readonly key: string;
  readonly spaced: boolean;
  /** The token is the first of a line. */
  readonly opensLine: boolean;
}
interface OwnedToken extends Token {
  readonly piece: number;
}

/** In scripts without spaces each character is a token. */
const TOKEN = new RegExp(`[${UNSPACED}][^\\p{L}\\p{N}\\s]*|[^\\s${UNSPACED}]+`, "gu");
const SENTENCE_END = /[.!?…。！？]["'”’)\]]*$/u;

function* tokensOf(text: string): Generator<Token, void, void> {
  let end = 0;
  for (const { 0: raw, index } of text.matchAll(TOKEN)) {
    const space = text.slice(end, index);
    const opensLine = end > 0 && space.includes("\n");
    end = index + raw.length;
    const letters = raw.replace(/[^\p{L}\p{N}\p{M}]/gu, "").toLowerCase();
    yield { raw, key: letters === "" ? raw : letters, spaced: space !== "", opensLine };
  }
}

function ownedTokens(pieces: readonly ProviderWord[]): readonly OwnedToken[] {
  return pieces.flatMap(({ text }, piece) => Array.from(tokensOf(text), (token) => ({ ...token, piece })));
}

interface Order<P> {
  readonly ordered: readonly P[];
  readonly tokens: readonly OwnedToken[];
  readonly matches: readonly Match[];
}

/** With several channels the text may be ordered by channel or by time, so all orders are tried. */
function ordersOf<P extends ProviderWord>(pieces: readonly P[]): readonly (readonly P[])[] {
  const channelOf = (piece: P) => piece.channel ?? 0;
  if (new Set(pieces.map(channelOf)).size < 2) return [pieces];
  return [
    pieces,
    pieces.toSorted((one, other) => channelOf(one) - channelOf(other)),
    pieces.toSorted((one, other) => one.start - other.start || channelOf(one) - channelOf(other)),
  ];
}

function bestOf<P extends ProviderWord>(orders: readonly (readonly P[])[], written: readonly Token[]): Order<P> {
  const keys = written.map(({ key }) => key);
  const results: Order<P>[] = [];
  for (const ordered of orders) {
    const tokens = ownedTokens(ordered);
    const spokenKeys = tokens.map(({ key }) => key);
    results.push({ ordered, tokens, matches: commonSubsequence(spokenKeys, keys) });
  }
  return results.reduce((best, each) => (each.matches.length > best.matches.length ? each : best));
}

interface Spelling {
  text: string;
  /** Text before, or behind, all words of the piece itself was added to it. */
  before: boolean;
  behind: boolean;
}

/** Distributes the text over the pieces. Returns the text of each piece. */
function spread(
  tokens: readonly OwnedToken[],
  written: readonly Token[],
  matches: readonly Match[],
): ReadonlyMap<number, Spelling> {
  const spellings = new Map<number, Spelling>();
  const write = (piece: number, { raw, spaced }: Token, side?: "before" | "behind"): void => {
    const known = spellings.get(piece) ?? { text: "", before: false, behind: false };
    spellings.set(piece, known);
    known.text += spaced && known.text !== "" ? ` ${raw}` : raw;
    if (side !== undefined) known[side] = true;
  };
  let [spokenAt, writtenAt] = [0, 0];
  for (const [a, b] of [...matches, [tokens.length, written.length] as const]) {
    const unmatched = tokens.slice(spokenAt, a);
    const gap = written.slice(writtenAt, b);
    const last = tokens[spokenAt - 1]?.piece;
    const next = tokens[a]?.piece;
    if (gap.length === 0) for (const token of unmatched) write(token.piece, token);
    else if (unmatched.length > 0)
      for (const [index, token] of gap.entries())
        write(unmatched[Math.floor((index * unmatched.length) / gap.length)]?.piece ?? 0, token);
    else if (last === next) for (const token of gap) write(last ?? 0, token);
    else {
      const split = last === undefined ? 0 : next === undefined ? gap.length : splitOf(written, writtenAt, b);
      for (const [index, token] of gap.entries())
        if (index < split) write(last ?? 0, token, "behind");
        else write(next ?? 0, token, "before");
    }
    const [own, match] = [tokens[a], written[b]];
    if (own !== undefined && match !== undefined) write(own.piece, match);
    [spokenAt, writtenAt] = [a + 1, b + 1];
  }
  return spellings;
}

/** How much of a gap goes to the piece before it: up to the end of its line, else of its sentence, else all. */
function splitOf(written: readonly Token[], from: number, to: number): number {
  for (let index = from; index <= to; index++) if (written[index]?.opensLine === true) return index - from;
  for (let index = from; index <= to; index++)
    if (SENTENCE_END.test(written[index - 1]?.raw ?? "")) return index - from;
  return to - from;
}

/** Untimed text was spoken between its neighbours: a piece that received it is extended to the next piece of its channel. */
function stretchTimes<P extends ProviderWord>(
  pieces: readonly P[],
  spellings: ReadonlyMap<number, Spelling>,
): readonly P[] {
  return pieces.flatMap((piece, index) => {
    const spelling = spellings.get(index);
    if (spelling === undefined) return [];
    const { text, before, behind } = spelling;
    const [previous, next] = [pieces[index - 1], pieces[index + 1]];
    const start = before && previous?.channel === piece.channel ? Math.min(piece.start, previous.end) : piece.start;
    const end = behind && next?.channel === piece.channel ? Math.max(piece.end, next.start) : piece.end;
    return [{ ...piece, text, start, end }];
  });
}
