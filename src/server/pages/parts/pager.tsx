interface PagerProps {
  /** URL of the first page. Default: this is the first page. */
  readonly first?: string | null;
  /** URL of the next page; null if there is none. */
  readonly next: string | null;
  readonly label?: string;
}

/** Links to the first and the next page of rows; empty if there are no other pages. */
export function Pager({ first = null, next, label = 'Older' }: PagerProps) {
  if (first === null && next === null) return null;
  return (
    <nav class="pager actions" aria-label="Pages">
      {first !== null && <a href={first}>First page</a>}
      {next !== null && (
        <a class="button plain" href={next} rel="next">
          {label}
        </a>
      )}
    </nav>
  );
}
