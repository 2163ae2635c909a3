import { expect, it } from 'vitest';
import { typedSchema } from '../../../package/typed-schema.ts';
import { type Declared, isPublic } from '../../../src/db/declared.ts';
import { declaredObjects } from '../../../src/reporting/views/declared-objects.ts';

const declared = declaredObjects();

it('every view and every column of reporting is in chain-recorder/schema, under a unique name', () => {
  const { javascript, declarations } = typedSchema(declared);
  const names = [...declarations.matchAll(/^export declare (?:const|function) (\w+)/gm)].map(
    ([, name]) => name,
  );
  const returnsRows = declared.filter(
    (one) => isPublic(one) && (one.kind === 'view' || one.value === undefined),
  );
  expect(new Set(names).size).toBe(returnsRows.length);
  for (const { name, columns } of returnsRows) {
    const [, declaration = ''] =
      new RegExp(`(?:view|columnsOf)\\('${name}', \\{\n([\\s\\S]*?)\n\\}`).exec(javascript) ?? [];
    const properties = [...declaration.matchAll(/^ {2}(\w+): /gm)].map(([, property]) => property);
    expect(new Set(properties).size, name).toBe(columns.length);
  }
});

it('a column of a type without a TypeScript type is refused, not guessed', () => {
  const point: Declared = {
    kind: 'view',
    name: 'places',
    comment: 'Places.',
    columns: [{ name: 'place', type: 'point', comment: 'Where.' }],
    body: "select '(0,0)'::point as place",
  };
  expect(() => typedSchema([point])).toThrow(/^reporting\.places\.place: the type point /);
});

it('a comment cannot end the comment that contains it', () => {
  const view: Declared = {
    kind: 'view',
    name: 'one',
    comment: 'All of */ it.',
    columns: [{ name: 'a_1', type: 'text', comment: 'One.' }],
    body: "select '' as a_1",
  };
  expect(typedSchema([view]).declarations).toContain('/** All of *\\/ it. */\nexport declare const one');
});
