// Reads OpenAPI documents, whose operations refer to shared components, as if everything were written in place.

interface Reference {
  readonly $ref?: string;
}

/**
 * What a node is after following its reference. Members next to `$ref`, such as a description, take precedence over those of the component. A reference leads
 * to a node of the same kind, of which the document's type is a promise.
 */
export function resolveReference<Node extends object>(document: object, node: Node & Reference): Node {
  const { $ref, ...own } = node;
  if ($ref === undefined) return node;
  return { ...resolveReference(document, componentAt(document, $ref) as Node), ...own };
}

function componentAt(document: object, reference: string): unknown {
  if (!reference.startsWith("#/")) throw new Error(`${reference} does not lead into the document`);
  let place: unknown = document;
  for (const part of reference.slice(2).split("/")) {
    if (typeof place !== "object" || place === null || !Object.hasOwn(place, part))
      throw new Error(`${reference} does not exist`);
    place = (place as Record<string, unknown>)[part];
  }
  return place;
}

/** Every reference in a document or a part of it. */
export function referencesIn(value: unknown): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === "$ref" && typeof inner === "string" ? [inner] : referencesIn(inner),
  );
}
