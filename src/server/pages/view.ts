import { createContext } from 'preact';
import type { Assets } from '../assets.ts';

export const themes = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

/** What every part of a page may want to know, beside its data. */
export interface View {
  /** When the page was asked for, ms since 1970: what "3 min ago" counts from. */
  readonly now: number;
  /** The path and the query, as they were asked for. */
  readonly url: string;
  readonly theme: Theme;
  /** A session stands behind this page, which can be ended. */
  readonly session: boolean;
  /** Whoever asks may see every page. */
  readonly everything: boolean;
  /** It is written to a file: there is no server to send a form to. */
  readonly file: boolean;
  readonly assets: Assets;
  /** How far the replica that it is read from is behind, in words; null: it is read from the primary, or nobody knows. */
  readonly behind: string | null;
}

/** The view of the page that is rendered: `useContext(CurrentView)`. */
export const CurrentView = createContext<View>({
  now: 0,
  url: '/',
  theme: 'auto',
  session: false,
  everything: true,
  file: false,
  assets: { style: null, script: () => null, files: new Map() },
  behind: null,
});
