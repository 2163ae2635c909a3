/** Returns the visible text of HTML. */
export const textOf = (html: string) =>
  html
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&amp;', '&');

/** The cells of the first table, by row, without the head. */
export const rowsOf = (html: string): string[][] => {
  const [, body = ''] = /<tbody>(.*?)<\/tbody>/s.exec(html) ?? [];
  return [...body.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = '']) =>
    [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell = '']) => textOf(cell)),
  );
};

/** Returns the addresses of the links with this text. */
export const linksOf = (html: string, text: string): string[] =>
  [...html.matchAll(/<a ([^>]*)>(.*?)<\/a>/gs)]
    .filter(([, , inner = '']) => textOf(inner) === text)
    .map(([, attributes = '']) => /href="([^"]*)"/.exec(attributes)?.[1]?.replaceAll('&amp;', '&') ?? '');

export const linkOf = (html: string, text: string): string => {
  const [first] = linksOf(html, text);
  if (first === undefined) throw new Error(`no link has the text ${text}`);
  return first;
};

/** Returns the values of the text fields of a page, by name. */
export const fieldsOf = (html: string): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(
    [...html.matchAll(/<input ([^>]*)>/g)].map(([, attributes = '']) => {
      const of = (name: string) => new RegExp(`(?:^| )${name}="([^"]*)"`).exec(attributes)?.[1] ?? '';
      return [of('name'), of('value')];
    }),
  );
