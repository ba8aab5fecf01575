// What the console's forms offer of provider accounts and of the sandbox's levers is what the API takes: nothing is forgotten, nothing
// is invented.
import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { CONNECTION_KINDS, fieldsOf, NOT_IN_FORM } from "../../src/console/connection-kinds.ts";
import { EVERY_FEATURE, declaredFeatures, featuresOf } from "../../src/console/model-features.ts";
import * as levers from "../../src/console/sandbox-faults.ts";
import { needsAddress, needsCredential, PROVIDER_KINDS } from "../../src/contract/provider-kinds.ts";
import { sandboxFault, SIMULATED_PROVIDERS } from "../../src/contract/admin/sandbox-faults.ts";
import { connectionSection, modelDeclaration } from "../../src/contract/settings/connection.ts";
import { chatProviders, providers } from "../../src/providers/registry.ts";

const schemaOf = (schema: z.ZodType) => z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
/** By Draft 2020-12: an object's fields, wherever it says "this or null". */
type Schema = z.core.JSONSchema.BaseSchema;
const partOf = (schema: Schema | undefined, name: string): Schema => {
  const found = schema?.properties?.[name];
  assert.ok(typeof found === "object", name);
  return found;
};

test("console.complete-forms, providers.console-forms: each kind of connection is in the console, with each field that the API accepts for it", () => {
  assert.deepEqual(Object.keys(CONNECTION_KINDS).toSorted(), PROVIDER_KINDS.toSorted());
  const fields = Object.keys(schemaOf(connectionSection).properties ?? {});
  for (const kind of PROVIDER_KINDS) {
    const { credential, address } = CONNECTION_KINDS[kind];
    const leftOut = [
      ...Object.keys(NOT_IN_FORM),
      ...(credential === null ? ["api_key"] : []),
      ...(address === null ? ["base_url"] : []),
    ];
    const form = fieldsOf(kind);
    assert.deepEqual([...form.map(({ name }) => name), ...leftOut].toSorted(), fields.toSorted(), kind);
    const isRequired = (name: string) => form.find((field) => field.name === name)?.isRequired ?? false;
    assert.deepEqual(
      [isRequired("api_key"), isRequired("base_url")],
      [needsCredential(kind), needsAddress(kind)],
      kind,
    );
    assert.ok(
      form.filter(({ name }) => name === "api_key").every((field) => field.kind === "password"),
      kind,
    );
  }
});

test("providers.console-forms: what the console says of a provider is what its adapter does, and where it is called", () => {
  for (const kind of PROVIDER_KINDS) {
    const { does, address } = CONNECTION_KINDS[kind];
    const [speech, chat] = [providers.get(kind), chatProviders.get(kind)];
    const can = [...(speech === undefined ? [] : ["audio_input"]), ...(chat === undefined ? [] : ["chat"])];
    assert.deepEqual(does, can, kind);
    const known = speech?.defaultBaseUrl ?? chat?.defaultBaseUrl ?? null;
    if (known !== null && speech?.isOnThisMachine !== true) assert.equal(address?.placeholder, known, kind);
  }
});

test("providers.console-forms: everything that can be declared of a model can be ticked, and a declaration comes back as it was", () => {
  const features = partOf(schemaOf(modelDeclaration), "features");
  const names = Object.entries(features.properties ?? {}).flatMap(([name, schema]) => {
    const values = /"enum":\[([^\]]*)\]/u.exec(JSON.stringify(schema))?.[1]?.match(/[\w-]+/gu);
    return values === undefined || values === null ? [name] : values.map((value) => `${name}.${value}`);
  });
  assert.deepEqual(EVERY_FEATURE.toSorted(), names.toSorted());
  for (const ticked of [[], EVERY_FEATURE, ["diarization", "timestamps.word"], ["response_format.json_schema"]]) {
    const declared = { capabilities: ["audio_input" as const], features: featuresOf(ticked, {}) };
    assert.ok(modelDeclaration.safeParse(declared).success);
    assert.deepEqual(declaredFeatures(declared).toSorted(), ticked.toSorted());
  }
  const before = { features: { diarization: true, streaming: false, timestamps: ["word"], keyterms: null } };
  assert.deepEqual(featuresOf([], before), { diarization: false, streaming: false, timestamps: [], keyterms: null });
});

test("console.complete-forms, providers.console-forms: each lever of the sandbox is in the console, with each of its fields and choices", () => {
  const { properties = {} } = schemaOf(sandboxFault);
  const kinds = partOf({ properties }, "failure").oneOf ?? [];
  assert.equal(kinds.length, levers.FAULT_CHOICES.length);
  for (const each of kinds) {
    const { properties: fields = {}, required = [] } = each;
    const kind = String((fields["kind"] as Schema).const);
    assert.ok(levers.isFaultKind(kind), kind);
    const form = levers.fieldsOf(kind);
    const wanted = [
      ...Object.keys(properties).filter((name) => name !== "failure"),
      ...Object.keys(fields)
        .filter((name) => name !== "kind")
        .map((name) => `failure.${name}`),
    ];
    assert.deepEqual(form.map(({ name }) => name).toSorted(), wanted.toSorted(), kind);
    for (const field of form) {
      const name = /^failure\.(.+)$/u.exec(field.name)?.[1];
      if (name !== undefined) assert.equal(field.isRequired ?? false, required.includes(name), field.name);
      const offered =
        field.kind === "select" ? field.choices.map(([value]) => value).filter((value) => value !== levers.ALL) : [];
      const counted = name === undefined ? [] : ((fields[name] as Schema).enum ?? []);
      assert.deepEqual(offered, field.name === "provider" ? SIMULATED_PROVIDERS.options : [...counted], field.name);
    }
  }
});
