// The playground's form and the API have the same fields: none is forgotten, none is invented, and each takes the same words.
import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { translationFields, transcriptionFields } from "../../src/contract/transcription/transcription-fields.ts";
import { NOT_IN_FORM, optionsHtml } from "../../src/http/pages/playground-form.ts";

const form = optionsHtml();
const names = new Set(
  [...form.matchAll(/<(?:input|select|textarea)[^>]* name="([a-z_]+)"/gu)].map(([, name = ""]) => name),
);

test("console.complete-forms: every field of a transcription is in the form, or is missing for a documented reason", () => {
  const fields = Object.keys(translationFields.shape);
  assert.deepEqual([...names, ...Object.keys(NOT_IN_FORM)].toSorted(), fields.toSorted());
  for (const name of Object.keys(transcriptionFields.shape)) assert.ok(fields.includes(name), name);
  assert.ok(Object.values(NOT_IN_FORM).every((reason) => reason.length > 10));
});

test("console.complete-forms: a choice of the form is one that the API accepts, and all that the API lists are offered", () => {
  const { properties = {} } = z.toJSONSchema(translationFields, { io: "input", unrepresentable: "any" });
  for (const name of names) {
    const offered = [
      ...form.matchAll(new RegExp(`<select[^>]* name="${name}".*?</select>|<input[^>]* name="${name}"[^>]*>`, "gu")),
    ].flatMap(([control]) => [...control.matchAll(/value="([^"]+)"/gu)].map(([, value = ""]) => value));
    const counted =
      JSON.stringify(properties[name])
        .match(/"enum":\[([^\]]*)\]/u)?.[1]
        ?.match(/\w+/gu) ?? [];
    assert.deepEqual(offered, counted.length > 0 ? [...counted] : offered.filter((value) => value === "true"), name);
  }
});

test("console.accessible: every control has a label and the sentence of the contract, also for screen readers", () => {
  for (const name of names) {
    assert.ok(form.includes(`id="hint-${name}"`), name);
    assert.ok(form.includes(`aria-describedby="hint-${name}"`), name);
    assert.ok(
      form.includes(`<label for="option-${name}">`) ||
        form.includes(`<fieldset class="field" aria-describedby="hint-${name}"><legend>`),
      name,
    );
  }
  assert.ok([...form.matchAll(/<small[^>]*>(.*?)<\/small>/gu)].every(([, text = ""]) => text.length > 5));
});
