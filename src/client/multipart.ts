// The multipart form of a request with audio: the parts before the audio, and the closing boundary after it.
export interface FormAround {
  readonly contentType: string;
  readonly head: string;
  readonly tail: string;
}

export interface FilePart {
  readonly name: string;
  readonly mediaType: string;
}

/** Lists and objects are sent as JSON, because a form has few parts and a term may begin with a bracket; other values as text. */
export function formAround(fields: Readonly<Record<string, unknown>>, file: FilePart, unique: string): FormAround {
  const boundary = `patchbay-${unique}`;
  const part = (disposition: string): string => `--${boundary}\r\ncontent-disposition: form-data; ${disposition}\r\n`;
  const texts = Object.entries(fields)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(
      ([name, value]) =>
        `${part(`name="${name}"`)}\r\n${typeof value === "string" ? value : JSON.stringify(value)}\r\n`,
    );
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    head: `${texts.join("")}${part(`name="file"; filename="${quoted(file.name)}"`)}content-type: ${file.mediaType}\r\n\r\n`,
    tail: `\r\n--${boundary}--\r\n`,
  };
}

/** Escapes a name in a Content-Disposition header as browsers do. */
function quoted(name: string): string {
  return name.replaceAll('"', "%22").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}
