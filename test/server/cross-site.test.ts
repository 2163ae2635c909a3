import { describe, expect, it } from 'vitest';
import { isCrossSiteRequest } from '../../src/server/headers.ts';

const headers = (site?: string, mode?: string, dest?: string) => ({
  'sec-fetch-site': site,
  'sec-fetch-mode': mode,
  'sec-fetch-dest': dest,
});

describe('a request from a page of another site', () => {
  it.each([
    ['an image', '/query.json', headers('cross-site', 'no-cors', 'image')],
    ['a fetch', '/api/v1/views/nodes', headers('cross-site', 'cors', 'empty')],
    ['a frame', '/query', headers('cross-site', 'navigate', 'iframe')],
    ['an object', '/', headers('cross-site', 'navigate', 'object')],
    ['a name that starts like one to embed', '/status-of', headers('cross-site', 'no-cors', 'image')],
  ])('is detected: %s', (_, path, sent) => {
    expect(isCrossSiteRequest(path, sent)).toBe(true);
  });

  it.each([
    ['a program', '/query.json', headers()],
    ['a link that is followed', '/query', headers('cross-site', 'navigate', 'document')],
    ['an address that is typed in', '/query', headers('none', 'navigate', 'document')],
    ['a page of the recorder', '/query.json', headers('same-origin', 'cors', 'empty')],
    ['a page of another port of this machine', '/query.json', headers('same-site', 'cors', 'empty')],
    ['a badge', '/badge/node-1', headers('cross-site', 'no-cors', 'image')],
    ['the status as data', '/status.json', headers('cross-site', 'cors', 'empty')],
    ['the status of a node', '/status/node-1', headers('cross-site', 'navigate', 'iframe')],
  ])('is not assumed: %s', (_, path, sent) => {
    expect(isCrossSiteRequest(path, sent)).toBe(false);
  });
});
