import { z } from 'zod';

/** How a variable of the environment is named in a text. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: it is what users write
export const PLACE = '${NAME}';

/** Whether a text is an http or https URL as it is written: parsing drops spaces and line breaks. */
export const isHttpUrl = (text: string): boolean =>
  !/\s/.test(text) && URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);

/** A text that may name variables as `${NAME}`, and is an http or https URL with them. */
export const url = z
  .string()
  .refine((text) => {
    const whole = text.replaceAll(/\$\{[^}]*\}/g, 'x');
    // A variable may hold the whole of it.
    return whole === 'x' || isHttpUrl(whole);
  }, `must be an http or https URL without spaces; its secret parts as ${PLACE}`)
  .refine((text) => !text.includes('#'), 'must carry no fragment (#…): it is never sent')
  .refine((text) => {
    if (!URL.canParse(text)) return true;
    const { username, password } = new URL(text);
    return !(username + password).replaceAll(/\$(%7B|\{)[A-Z0-9_]+(%7D|\})/g, '');
  }, `must carry no credentials: write ${PLACE} and set NAME in the environment`);
const header = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9-]+$/, 'must be a header name')
    .describe('Its name.'),
  value: z
    .string()
    .min(1)
    // What undici sends; it throws at anything else, each time.
    .regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'must be one line, of Latin letters')
    .describe(`Its value; secret parts as \`${PLACE}\`.`),
});
/** Headers of calls to others. */
export const headers = z
  .array(header)
  .default([])
  .describe('Headers that are sent beside the usual ones, such as Authorization.');
