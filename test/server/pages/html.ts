/** The text of HTML as people read it. */
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

/** The addresses of the links whose text is this. */
export const linksOf = (html: string, text: string): string[] =>
  [...html.matchAll(/<a ([^>]*)>(.*?)<\/a>/gs)]
    .filter(([, , inner = '']) => textOf(inner) === text)
    .map(([, attributes = '']) => /href="([^"]*)"/.exec(attributes)?.[1]?.replaceAll('&amp;', '&') ?? '');

export const linkOf = (html: string, text: string): string => {
  const [first] = linksOf(html, text);
  if (first === undefined) throw new Error(`no link says ${text}`);
  return first;
};

/** What the text fields of a page hold, by name. */
export const fieldsOf = (html: string): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(
    [...html.matchAll(/<input ([^>]*)>/g)].map(([, attributes = '']) => {
      const of = (name: string) => new RegExp(`(?:^| )${name}="([^"]*)"`).exec(attributes)?.[1] ?? '';
      return [of('name'), of('value')];
    }),
  );
