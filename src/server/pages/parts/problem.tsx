import type { ComponentChildren } from 'preact';

/** An error message, displayed instead of content. */
export function ErrorNotice({
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
            <li>{detail}</li>
          ))}
        </ul>
      )}
      {children}
    </div>
  );
}
