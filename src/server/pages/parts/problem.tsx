import type { ComponentChildren } from 'preact';

/** Something that is wrong, in place of what would be here. */
export function Problem({
  what,
  details = [],
  children,
}: {
  readonly what: string;
  readonly details?: readonly string[];
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="problem" role="alert">
      <p class="what">{what}</p>
      {details.length > 0 && (
        <ul>
          {details.map((detail) => (
            <li key={detail}>{detail}</li>
          ))}
        </ul>
      )}
      {children}
    </div>
  );
}
