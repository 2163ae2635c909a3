import { z } from 'zod';

/** Placeholder of an environment variable in a text. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: users write this text
export const VARIABLE_PLACEHOLDER = '${NAME}';

/** Returns true for an http or https URL as written. Parsing would drop spaces and line breaks. */
export const isHttpUrl = (text: string): boolean =>
  !/\s/.test(text) && URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);

/** Returns true for an http or https URL without credentials, path, query and fragment. */
export const isOrigin = (text: string): boolean =>
  isHttpUrl(text) && [new URL(text).origin, `${new URL(text).origin}/`].includes(text);

/** Returns true for a URL without a user name and a password. */
const hasNoCredentials = (text: string): boolean => {
  if (!URL.canParse(text)) return true;
  const { username, password } = new URL(text);
  return !(username + password).replaceAll(/\$(%7B|\{)[A-Z0-9_]+(%7D|\})/g, '');
};

/** Schema of a link to a page, to which a fragment is appended. */
export const pageUrlSchema = z
  .string()
  .refine(isHttpUrl, 'must be an http or https URL without spaces')
  .refine(
    (text) => !text.includes('#'),
    'must carry no fragment (#…): the name of the rule is appended as the fragment',
  )
  .refine(hasNoCredentials, 'must carry no credentials: the URL is part of every message');

/** Schema of an http or https URL that may contain variables as `${NAME}`. */
export const urlSchema = z
  .string()
  .refine((text) => {
    const whole = text.replaceAll(/\$\{[^}]*\}/g, 'x');
    // A variable may contain the whole URL.
    return whole === 'x' || isHttpUrl(whole);
  }, `must be an http or https URL without spaces; its secret parts as ${VARIABLE_PLACEHOLDER}`)
  .refine((text) => !text.includes('#'), 'must carry no fragment (#…): fragments are never sent')
  .refine(
    hasNoCredentials,
    `must carry no credentials: write ${VARIABLE_PLACEHOLDER} and set NAME in the environment`,
  );

/**
 * Pattern of the headers that frame a request. The HTTP client sets these headers itself, and throws if a
 * request contains such a header.
 */
const CONNECTION_HEADERS = /^(content-length|transfer-encoding|connection|keep-alive|upgrade|expect)$/i;

/** Schema of the name of a header. */
export const headerNameSchema = z
  .string()
  .regex(/^[A-Za-z0-9-]+$/, 'must be a header name')
  .refine((name) => !CONNECTION_HEADERS.test(name), 'is set by the connection: remove this header');
const header = z.strictObject({
  name: headerNameSchema.describe('Name of the header.'),
  value: z
    .string()
    .min(1)
    // Only characters that undici can send. undici throws on other characters at each request.
    .regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'must be one line, of Latin letters')
    .describe(`Value of the header; secret parts as \`${VARIABLE_PLACEHOLDER}\`.`),
});
/** Schema of additional HTTP headers. */
export const headersSchema = z
  .array(header)
  .superRefine((headers, context) => {
    const names = headers.map(({ name }) => name.toLowerCase());
    for (const [at, name] of names.entries())
      if (names.indexOf(name) < at)
        context.addIssue({ code: 'custom', path: [at, 'name'], message: `${name} is set twice` });
  })
  .default([])
  .describe('Additional headers, such as Authorization.');
