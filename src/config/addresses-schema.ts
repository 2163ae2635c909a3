import { z } from 'zod';

/** Placeholder of an environment variable in a text. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: it is what users write
export const VARIABLE_PLACEHOLDER = '${NAME}';

/** Returns true for an http or https URL as written. Parsing would drop spaces and line breaks. */
export const isHttpUrl = (text: string): boolean =>
  !/\s/.test(text) && URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);

/** Schema of an http or https URL that may contain variables as `${NAME}`. */
export const urlSchema = z
  .string()
  .refine((text) => {
    const whole = text.replaceAll(/\$\{[^}]*\}/g, 'x');
    // A variable may contain the whole URL.
    return whole === 'x' || isHttpUrl(whole);
  }, `must be an http or https URL without spaces; its secret parts as ${VARIABLE_PLACEHOLDER}`)
  .refine((text) => !text.includes('#'), 'must carry no fragment (#…): it is never sent')
  .refine((text) => {
    if (!URL.canParse(text)) return true;
    const { username, password } = new URL(text);
    return !(username + password).replaceAll(/\$(%7B|\{)[A-Z0-9_]+(%7D|\})/g, '');
  }, `must carry no credentials: write ${VARIABLE_PLACEHOLDER} and set NAME in the environment`);
const header = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9-]+$/, 'must be a header name')
    .describe('Name of the header.'),
  value: z
    .string()
    .min(1)
    // Characters that undici can send; it throws on others at each request.
    .regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'must be one line, of Latin letters')
    .describe(`Value of the header; secret parts as \`${VARIABLE_PLACEHOLDER}\`.`),
});
/** Schema of additional HTTP headers. */
export const headersSchema = z
  .array(header)
  .default([])
  .describe('Additional headers, such as Authorization.');
