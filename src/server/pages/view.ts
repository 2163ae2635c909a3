import { createContext } from 'preact';
import type { Assets } from '../assets.ts';

export const themes = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

/** Properties of a request that every part of a page can use. */
export interface RenderContext {
  /** Time of the request, in ms since 1970. Relative times such as "3 min ago" refer to this time. */
  readonly now: number;
  /** The path and the query of the request. */
  readonly url: string;
  readonly theme: Theme;
  /** True if the request has a session, so that the page contains a button to sign out. */
  readonly session: boolean;
  /** True if the client may read every page. */
  readonly everything: boolean;
  /** True if the page is written to a file. The page then contains no forms, because there is no server. */
  readonly file: boolean;
  readonly assets: Assets;
  /** Lag of the replica that is read, as a text; null if the primary is read or the lag is unknown. */
  readonly behind: string | null;
}

/** The context of the page that is being rendered. */
export const CurrentView = createContext<RenderContext>({
  now: 0,
  url: '/',
  theme: 'auto',
  session: false,
  everything: true,
  file: false,
  assets: { style: null, script: () => null, files: new Map() },
  behind: null,
});
