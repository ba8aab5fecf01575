// Recognises one recording or live audio piece by piece [local.pieces], and its speakers.
import { gapBetween } from "../../lib/text/join-words.ts";
import { ProviderError, type Io, type StreamingIo } from "../io.ts";
import type { RawTranscript, SpeechAudio, SpeechEvent, SpeechPlan } from "../provider.ts";
import type { ReceivedModel } from "../receipt.ts";
import { cutAtSilences, type Piece, RECORDING_CUTS, UTTERANCE_CUTS } from "./cut-at-silences.ts";
import type { EngineResult, SpeakerTurn } from "./engine/engine-protocol.ts";
import { abortOf } from "./abort-of.ts";
import type { LiveEars, LocalSession, Samples } from "./local-calls.ts";
import { type HeardPiece, segmentsOf } from "./local-transcript.ts";
import { speechBounds, wordsOf } from "./local-words.ts";
import { readSamples } from "./read-samples.ts";
import { unlessAborted } from "./until-aborted.ts";

/** What `local.ts` plans. */
export interface LocalPlan {
  readonly model: string;
  /** The model returns times of words. */
  readonly hasWords: boolean;
  readonly keyterms: readonly string[];
  readonly diarization: boolean;
  readonly speakers: number | null;
  /** The same request for a test key, which the sandbox answers. */
  readonly simulated: SpeechPlan;
}

/** The body of a `RawTranscript`. */
export interface LocalBody {
  readonly engine: "sherpa-onnx";
  readonly pieces: readonly HeardPiece[];
  readonly turns: readonly SpeakerTurn[] | null;
  readonly model: ReceivedModel;
}

/** What a recording is recognised with. */
export type RecordingPlan = Omit<LocalPlan, "simulated">;

export async function recogniseRecording(
  plan: RecordingPlan,
  audio: SpeechAudio,
  io: Pick<Io, "local">,
): Promise<RawTranscript> {
  const session = await openSession(plan, audio.durationSeconds, io);
  try {
    const pieces: HeardPiece[] = [];
    if (session.model.spec.features.streaming)
      for await (const heard of listen(session, audio, plan)) pieces.push(heard);
    else
      for await (const heard of hearAhead(
        cutAtSilences(
          samplesOf(audio, session),
          plan.hasWords ? RECORDING_CUTS : UTTERANCE_CUTS,
          audio.durationSeconds,
        ),
        (piece, onSent) => hearPiece(session, piece, plan, onSent),
      ))
        pieces.push(heard);
    const turns = plan.diarization ? await session.diarize(() => samplesOf(audio, session), plan.speakers) : null;
    return rawOf(session, pieces, turns);
  } finally {
    session.release();
  }
}

/** Events while the audio is recognised or spoken: a piece is an utterance. */
export async function* streamRecording(
  plan: LocalPlan,
  audio: SpeechAudio,
  io: StreamingIo,
): AsyncGenerator<SpeechEvent> {
  const session = await openSession(plan, audio.live === undefined ? audio.durationSeconds : 0, io);
  try {
    const pieces: HeardPiece[] = [];
    let text = "";
    const heard = session.model.spec.features.streaming
      ? listen(session, audio, plan)
      : utterances(session, audio, plan);
    for await (const piece of heard) {
      pieces.push(piece);
      const said = piece.text.trim();
      if (said === "") continue;
      await io.retain(said.length);
      yield { type: "text", text: `${gapBetween(text, said)}${said}` };
      text = said;
      for (const segment of segmentsOf(piece)) yield { type: "segment", segment };
    }
    yield { type: "end", raw: rawOf(session, pieces, null) };
  } finally {
    session.release();
  }
}

async function openSession(
  { model }: Pick<LocalPlan, "model">,
  audioSeconds: number,
  { local }: Pick<Io, "local">,
): Promise<LocalSession> {
  if (local === undefined) throw new ProviderError("connect", { reason: "no_engine_here" });
  return local.open({ model, audioSeconds });
}

function rawOf(
  { model, runtime }: LocalSession,
  pieces: readonly HeardPiece[],
  turns: readonly SpeakerTurn[] | null,
): RawTranscript {
  const files = model.files.map(({ path, sha256 }) => ({ path, sha256 }));
  const body: LocalBody = { engine: "sherpa-onnx", pieces, turns, model: { name: model.name, files, ...runtime } };
  return { body, headers: {} };
}

async function* utterances(session: LocalSession, audio: SpeechAudio, plan: RecordingPlan): AsyncGenerator<HeardPiece> {
  for await (const piece of cutAtSilences(samplesOf(audio, session), UTTERANCE_CUTS))
    yield await hearPiece(session, piece, plan);
}

/** Live audio may be awaited for long, so a call that must stop does not wait for more of it. */
async function* samplesOf(audio: SpeechAudio, { signal }: Pick<LocalSession, "signal">): AsyncGenerator<Samples> {
  const chunks = readSamples(audio);
  try {
    for (;;) {
      const { done, value } = await unlessAborted(chunks.next(), signal);
      if (done === true) return;
      yield value;
    }
  } catch (error) {
    if (signal.aborted) throw abortOf(signal);
    throw error;
  } finally {
    // Not awaited: it ends with the chunk that is being read.
    void chunks.return(undefined).catch(() => undefined);
  }
}

/**
 * Each piece joins the engine's queue before the one ahead of it is heard, so that the engine does not wait while the next one is cut. Cutting begins when
 * all samples of the one before are sent: otherwise it would delay them by 0.6 ms.
 */
async function* hearAhead(
  pieces: AsyncIterable<Piece>,
  hear: (piece: Piece, onSent: () => void) => Promise<HeardPiece>,
): AsyncGenerator<HeardPiece> {
  let ahead: Promise<HeardPiece> | null = null;
  for await (const piece of pieces) {
    const sent = Promise.withResolvers<void>();
    const heard = hear(piece, sent.resolve);
    // If the piece ahead of it fails, nothing awaits this one. The end of the session aborts it.
    heard.then(
      () => sent.resolve(),
      () => sent.resolve(),
    );
    if (ahead !== null) yield await ahead;
    await sent.promise;
    ahead = heard;
  }
  if (ahead !== null) yield await ahead;
}

const NOTHING: Omit<EngineResult, "startSeconds"> = {
  text: "",
  tokens: [],
  timestamps: [],
  durations: [],
  logProbs: [],
  language: "",
};

async function hearPiece(
  session: LocalSession,
  piece: Piece,
  { keyterms, hasWords }: RecordingPlan,
  onSent?: () => void,
): Promise<HeardPiece> {
  // Some models write words into digital silence.
  const sound = { activity: piece.activity, seconds: piece.samples.length / piece.sampleRate };
  const result = piece.isSilent ? NOTHING : await session.decode(piece, keyterms, onSent);
  free(piece);
  return {
    startSeconds: piece.startSeconds,
    text: withoutPauseMarks(result.text),
    language: result.language,
    words: hasWords ? wordsOf({ ...result, startSeconds: 0 }, sound) : [],
    bounds: speechBounds(sound),
  };
}

/** The memory of a piece is its own. Megabytes that wait for the garbage collector make it collect the whole heap, for 20 ms and more. */
function free({ samples: { buffer } }: Piece): void {
  if (buffer instanceof ArrayBuffer) buffer.transfer(0);
}

/** A mark of a pause is a blank of its own in the text. */
function withoutPauseMarks(text: string): string {
  return text.trim().replace(/ {2,}/gu, " ");
}

/** A streaming model hears small pieces as they come and cuts by itself. */
async function* listen(
  session: LocalSession,
  audio: SpeechAudio,
  { hasWords }: RecordingPlan,
): AsyncGenerator<HeardPiece> {
  const ears: LiveEars = await session.listen();
  let seconds = 0;
  for await (const chunk of samplesOf(audio, session)) {
    for (const part of partsOf(chunk.samples, chunk.sampleRate * MAX_FEED_SECONDS)) {
      seconds += part.length / chunk.sampleRate;
      for (const result of await ears.hear({ samples: part, sampleRate: chunk.sampleRate }))
        yield utteranceOf(result, seconds, hasWords);
    }
  }
  for (const result of await ears.finish()) yield utteranceOf(result, seconds, hasWords);
}

/** Feeding decodes at once and blocks the engine's process, so it is done in small steps. */
const MAX_FEED_SECONDS = 2;

function* partsOf(samples: Int16Array, most: number): Generator<Int16Array> {
  for (let from = 0; from < samples.length; from += most) yield samples.slice(from, from + most);
}

function utteranceOf(result: EngineResult, seconds: number, hasWords: boolean): HeardPiece {
  const length = Math.max(0, seconds - result.startSeconds);
  // The sound of the utterance is not kept.
  const sound = { seconds: length, activity: { levels: [], pauseLevel: 0 } };
  return {
    startSeconds: result.startSeconds,
    text: withoutPauseMarks(result.text),
    language: result.language,
    words: hasWords ? wordsOf(result, sound) : [],
    bounds: { start: 0, end: length },
  };
}
