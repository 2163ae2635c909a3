import { z } from 'zod';
import { type CatalogNames, configSchema } from './schema.ts';

/** A part of the JSON Schema of `recorder.yaml`. */
export type SettingSchema = z.core.JSONSchema.BaseSchema;

/** What a setting tells beside its form. `unit` and `absent` (what holds where it is left out) are not JSON Schema's. */
const wordsOf = z.object({
  description: z.string().optional(),
  unit: z.string().optional(),
  absent: z.string().optional(),
});

/** The ways in which a setting may be written; undefined: there is one. */
export const waysOf = ({ anyOf, oneOf }: SettingSchema) => anyOf ?? oneOf;

/** What people are told of a setting. */
export type Words = z.infer<typeof wordsOf>;

/** The JSON Schema of `recorder.yaml`, with the unit of each setting and what holds where it is left out. */
export function settingsSchema(names: CatalogNames): SettingSchema {
  return z.toJSONSchema(configSchema(names), { io: 'input', unrepresentable: 'any' });
}

/** What a part of {@link settingsSchema} tells of its setting. @throws ZodError where it is not in words */
export const words = (part: SettingSchema): Words => wordsOf.parse(part);

/** The JSON Schema of `recorder.yaml`, for editors, as text: what they show of a setting tells its unit and default too. */
export function editorSchema(names: CatalogNames): string {
  const schema = { title: 'chain-recorder configuration', ...settingsSchema(names) };
  return `${JSON.stringify(schema, (_, part: unknown) => inOneText(part), 2)}\n`;
}

function inOneText(part: unknown): unknown {
  // Where names of settings stand (`properties`), what is called so is no text.
  const { data } = wordsOf.safeParse(part);
  if (typeof part !== 'object' || part === null || Array.isArray(part) || data === undefined) return part;
  const { description, unit, absent } = data;
  const texts = [
    description ?? [],
    unit === undefined ? [] : `Unit: ${unit}.`,
    absent === undefined ? [] : `Default: ${absent}.`,
  ].flat();
  const others = Object.entries(part).filter(([name]) => !(name in wordsOf.shape));
  return { ...(texts.length > 0 ? { description: texts.join(' ') } : {}), ...Object.fromEntries(others) };
}
