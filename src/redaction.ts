/** Makes a function that takes the given secrets out of a text, wherever an upstream may have echoed them. */
export function redactor(secrets: readonly (string | undefined)[]): (text: string) => string {
  const known = secrets.flatMap((secret) => (secret ? [secret] : []));
  return (text) => known.reduce((clean, secret) => clean.replaceAll(secret, '[redacted]'), text);
}
