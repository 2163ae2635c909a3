import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import {
  openBrowser,
  openPage,
  schemes,
  seriousFindings,
  type Width,
  widths,
} from '../../support/browser.ts';

/**
 * Takes the screenshots of `docs/reference/pages.md` and of the README from a running server, such as that of
 * `simulated-month.ts`, each page in both widths and both colour schemes: `npx tsx test/server/pages/pictures.ts
 * http://127.0.0.1:8080 [NAME...]`, with names for some pages only. Fails if the console or axe report something.
 */
const [address = '', ...only] = process.argv.slice(2);
if (address === '') throw new Error('requires an address');

const day = (back: number) => new Date(Date.now() - back * 86_400_000).toISOString().slice(0, 10);
const point = 'chain_id=43114&metric=txCount';
const revised = `/charts?of=metric_points&${point}&time_interval=hour&from=${day(5)}&to=${day(2)}&as_of=${day(2)}&beside=${day(0)}`;
const question = `select begins, node, round(uptime, 4) as uptime, round(down_seconds / 60) as down_minutes
from node_uptime_by('7 days') where probe = 'health' order by begins, node`;

/** The name of a screenshot, its description, and the page. */
const pages: readonly (readonly [name: string, caption: string, path: string])[] = [
  ['overview', 'Overview: freshness of the datasets, state of the nodes, recent changes', '/'],
  ['datasets', 'Data: all recorded datasets, and their views', '/datasets'],
  ['rows', 'Rows of a list, now or as of any moment', '/datasets/node_validators'],
  [
    'row',
    'One point and all of its revisions',
    `/datasets/metric_points/row?${point}&time_interval=day&bucket_start=${day(3)}T00:00:00Z`,
  ],
  ['changes', 'Changes between two moments', '/datasets/metric_points/changes'],
  [
    'coverage',
    'Coverage: recorded and missing data with the reasons, and the command that fixes it',
    '/datasets/validator_uptime/coverage',
  ],
  ['charts', 'Charts: the values as of two moments in one picture', revised],
  ['supply', 'Charts: stake by day', '/charts?of=stake_daily'],
  [
    'query',
    'Query: read-only SQL, with the result as table or chart',
    `/query?sql=${encodeURIComponent(question)}`,
  ],
  ['status', 'Status of the nodes: four states, uptime with its bounds', '/status'],
  ['node', 'A node over any range, down to a single probe', '/status/validator-1'],
  ['alerts', 'Alerts: open and resolved', '/alerts'],
  ['runs', 'Runs', '/runs'],
  ['queues', 'Queues, processes and schedules', '/queues'],
  ['quarantine', 'Quarantine: items that could not be decoded', '/quarantine'],
  ['discrepancies', 'Discrepancies: differences between sources', '/discrepancies'],
];
const INTRODUCTION =
  'After a month of the simulated network, with incidents, revisions and an outage of the recorder. Each picture has a page in two widths, light and dark.';
/** Height of the screenshots of pages, before they are scaled down. */
const HEIGHT = 900;
/** Width of a screenshot on the sheet, by the width of the page. */
const DISPLAY_WIDTH_PX: Readonly<Record<Width, number>> = { wide: 560, phone: 170 };

/** The picture of the overview in the README, and its height. */
const README_PICTURE = fileURLToPath(new URL('../../../docs/overview.png', import.meta.url));
const README_HEIGHT = 740;

const folder = fileURLToPath(new URL('../../../docs/pages/', import.meta.url));
await mkdir(folder, { recursive: true });
const browser = await openBrowser();
const wrong: string[] = [];
for (const [name, , path] of pages.filter(([one]) => only.length === 0 || only.includes(one))) {
  const shots: { width: Width; png: Buffer }[] = [];
  for (const width of Object.keys(widths).filter((one): one is Width => one in widths))
    for (const colorScheme of schemes) {
      const { page, faults, close } = await openPage(browser, address + path, width, { colorScheme });
      const found = [...faults, ...(await seriousFindings(page))];
      wrong.push(...found.map((one) => `${path}, ${width}, ${colorScheme}: ${one}`));
      if (name === 'overview' && width === 'wide' && colorScheme === 'light')
        await page.screenshot({
          path: README_PICTURE,
          clip: { x: 0, y: 0, width: widths[width], height: README_HEIGHT },
        });
      shots.push({
        width,
        png: await page.screenshot({ clip: { x: 0, y: 0, width: widths[width], height: HEIGHT } }),
      });
      await close();
    }
  await writeFile(`${folder}${name}.jpg`, await sheet(browser, shots));
}
const lines = pages.map(([name, caption]) => `## ${caption}\n\n![${caption}](../pages/${name}.jpg)\n`);
await writeFile(
  fileURLToPath(new URL('../../../docs/reference/pages.md', import.meta.url)),
  `# Pages\n\n${INTRODUCTION}\n\n${lines.join('\n')}`,
);
await browser.close();
for (const one of wrong) process.stderr.write(`${one}\n`);
process.exitCode = wrong.length === 0 ? 0 : 1;

/** Places small screenshots beside each other, as JPEG. */
async function sheet(by: Browser, shots: readonly { width: Width; png: Buffer }[]): Promise<Buffer> {
  const page = await by.newPage({ viewport: { width: 1480, height: 400 } });
  const images = shots.map(
    ({ width, png }) =>
      `<img style="width:${DISPLAY_WIDTH_PX[width]}px;margin-right:6px" src="data:image/png;base64,${png.toString('base64')}">`,
  );
  await page.setContent(
    `<body style="margin:0;background:#999;white-space:nowrap;display:flex;align-items:start">${images.join('')}`,
  );
  const picture = await page.screenshot({ type: 'jpeg', quality: 72 });
  await page.close();
  return picture;
}
