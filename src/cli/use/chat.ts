// `patchbay chat`: one turn of a conversation, printed as it arrives [cli.chat-input].
import { randomUUID } from "node:crypto";
import { basename, extname } from "node:path";
import { CHAT_STREAM, isEventStream, readAnswerStream, reportAnswer } from "./answers.ts";
import { type ChatFieldOptions, plainFields } from "./chat-options.ts";
import { EXIT } from "../exit-codes.ts";
import { asRecord, asString } from "../../lib/json/json-guards.ts";
import { type GatewayOptions, openSession, readDocument, type Session } from "../gateway-session.ts";
import { printResult, requireWritable } from "../print.ts";
import { readFileArgument, readJsonFile, readTextArgument } from "../read-argument.ts";
import { sayHowToResume } from "./send-audio.ts";
import { CliError, printLine, type Terminal } from "../terminal.ts";

export interface ChatOptions extends ChatFieldOptions, GatewayOptions {
  readonly json?: boolean;
  readonly output?: string;
  readonly idempotencyKey?: string;
}

const IMAGE_TYPES: Readonly<Record<string, string>> = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".webp": "image/webp",
  ".gif": "image/gif",
};
const AUDIO_FORMATS: Readonly<Record<string, string>> = { ".wav": "wav", ".mp3": "mp3" };

export async function chat(
  words: readonly string[],
  options: ChatOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const session = openSession(options, terminal, signal);
  const fields = await chatRequest(words, options, terminal);
  await requireWritable(options.output, terminal);
  // A file or a document needs the whole answer. A plain answer can be retried safely, a stream cannot.
  const isWhole =
    options.json === true ||
    options.output !== undefined ||
    options.idempotencyKey !== undefined ||
    options.dryRun === true;
  const response = await send(session, { ...fields, stream: options.stream ?? !isWhole }, options, terminal, signal);
  const answer = isEventStream(response)
    ? await readAnswerStream(response, CHAT_STREAM, terminal, options.json !== true && options.output === undefined)
    : { document: await readDocument(response), printed: false };
  await reportAnswer(response, answer.document, terminal);
  await reportEnd(answer.document, terminal);
  const text = resultOf(answer.document, options.json === true, answer.printed);
  if (text !== "") await printResult(terminal, text, options.output);
}

async function send(
  session: Session,
  fields: Readonly<Record<string, unknown>>,
  options: ChatOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<Response> {
  const isStream = fields["stream"] === true;
  if (isStream && options.idempotencyKey !== undefined)
    throw new CliError(EXIT.usage, "--idempotency-key cannot be used with a stream; remove --stream.");
  const idempotencyKey = options.idempotencyKey ?? `cli-${randomUUID()}`;
  try {
    return await session.call("/v1/chat", {
      method: "POST",
      json: fields,
      headers: isStream
        ? { accept: "text/event-stream, application/json" }
        : { "idempotency-key": idempotencyKey, accept: "application/json" },
      isRepeatable: !isStream,
    });
  } catch (error) {
    if (signal.aborted && !isStream) await sayHowToResume(terminal, idempotencyKey);
    throw error;
  }
}

async function chatRequest(
  words: readonly string[],
  options: ChatOptions,
  terminal: Terminal,
): Promise<Record<string, unknown>> {
  const { system, messages, tools, schema } = options;
  if (messages === "-" && words.includes("-"))
    throw new CliError(EXIT.usage, "Stdin can be read once: as --messages or as the message.");
  const before = messages === undefined ? [] : await readJsonFile(messages, "--messages", terminal);
  if (!Array.isArray(before)) throw new CliError(EXIT.usage, "--messages must hold a JSON list of messages.");
  const userContent = await question(words, options, terminal);
  return {
    messages: [
      ...(system === undefined ? [] : [{ role: "system", content: system }]),
      ...before,
      ...(userContent === null ? [] : [{ role: "user", content: userContent }]),
    ],
    ...plainFields(options),
    ...(tools === undefined ? {} : { tools: await readJsonFile(tools, "--tools", terminal) }),
    ...(schema === undefined ? {} : { response_format: await schemaFormat(schema, terminal) }),
  };
}

/** The user's message: the arguments, with `-` for stdin. Null: `--messages` contains all of it. */
async function question(words: readonly string[], options: ChatOptions, terminal: Terminal): Promise<unknown> {
  const isPiped = terminal.stdin.isTTY !== true;
  const readsStdin = words.includes("-") || (words.length === 0 && isPiped && options.messages === undefined);
  const piped = readsStdin ? (await readTextArgument("-", "MESSAGE", terminal)).trimEnd() : "";
  const prompt = words.length === 0 ? piped : sentence(words, piped);
  const parts = await attachments(options, terminal);
  if (prompt.trim() === "" && parts.length === 0) {
    if (options.messages !== undefined) return null;
    throw new CliError(EXIT.usage, "No message. Use a MESSAGE, or `-` for stdin.", {
      hints: ['try: patchbay chat "Name three uses of a patch bay"'],
    });
  }
  if (parts.length === 0) return prompt;
  return prompt.trim() === "" ? parts : [{ type: "text", text: prompt }, ...parts];
}

/** Words are joined to one line; piped text is a paragraph of its own. */
function sentence(words: readonly string[], piped: string): string {
  const paragraphs: string[] = [];
  let line: string[] = [];
  for (const word of words) {
    if (word !== "-") {
      line.push(word);
      continue;
    }
    paragraphs.push(line.join(" "), piped);
    line = [];
  }
  return [...paragraphs, line.join(" ")].filter((paragraph) => paragraph !== "").join("\n\n");
}

async function attachments({ image = [], audio = [] }: ChatOptions, terminal: Terminal): Promise<readonly unknown[]> {
  const images = image.map(async (file) => {
    const type = typeOf(file, IMAGE_TYPES, "--image");
    const url = `data:${type};base64,${(await readFileArgument(file, terminal)).toString("base64")}`;
    return { type: "image_url", image_url: { url } };
  });
  const sounds = audio.map(async (file) => {
    const format = typeOf(file, AUDIO_FORMATS, "--audio");
    return {
      type: "input_audio",
      input_audio: { data: (await readFileArgument(file, terminal)).toString("base64"), format },
    };
  });
  return Promise.all([...images, ...sounds]);
}

function typeOf(file: string, types: Readonly<Record<string, string>>, option: string): string {
  const type = types[extname(file).toLowerCase()];
  if (type !== undefined) return type;
  const endings = Object.keys(types).join(", ");
  throw new CliError(EXIT.usage, `${option} accepts files that end in ${endings}; ${file} does not.`);
}

async function schemaFormat(file: string, terminal: Terminal): Promise<unknown> {
  const schema = await readJsonFile(file, "--schema", terminal);
  const name = basename(file, extname(file))
    .replaceAll(/[^A-Za-z0-9_-]/gu, "_")
    .slice(0, 64);
  return { type: "json_schema", json_schema: { name: name === "" ? "answer" : name, schema, strict: true } };
}

async function reportEnd(document: unknown, terminal: Terminal): Promise<void> {
  const answer = asRecord(document);
  const reason = asString(answer["finish_reason"]);
  if (reason === "length") await printLine(terminal, "The answer was cut off at the token limit (--max-tokens).");
  if (reason === "content_filter") await printLine(terminal, "The provider's content filter ended the answer.");
  const usage = asRecord(answer["usage"]);
  const { input_tokens: input, output_tokens: output } = usage;
  if (typeof input === "number" && typeof output === "number")
    await printLine(terminal, `tokens ${input} in, ${output} out`);
}

/** Empty if the stream has printed everything. */
function resultOf(document: unknown, wantsJson: boolean, isPrinted: boolean): string {
  const answer = asRecord(document);
  if (wantsJson || answer["object"] !== "chat") return `${JSON.stringify(document, null, 2)}\n`;
  const content = asString(answer["content"]);
  const calls = Array.isArray(answer["tool_calls"]) ? answer["tool_calls"].map(asRecord) : [];
  const lines = [
    ...(content === null || content === "" || isPrinted ? [] : [content]),
    ...calls.map((call) => `${asString(call["name"]) ?? "?"} ${asString(call["arguments"]) ?? ""}`),
  ];
  return lines.map((line) => (line.endsWith("\n") ? line : `${line}\n`)).join("");
}
