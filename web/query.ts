import { autocompletion, type CompletionSource, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { PostgreSQL, sql } from '@codemirror/lang-sql';
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { EditorSelection, EditorState } from '@codemirror/state';
import { EditorView, keymap, placeholder } from '@codemirror/view';
import { tags } from '@lezer/highlight';

/**
 * Replaces the text area of `/query` with an editor that completes names, and adds a button that cancels. The text area
 * stays in the form, and contains the query.
 */
const form = document.querySelector<HTMLFormElement>('form[data-query]');
const area = form?.querySelector('textarea');
if (form && area) {
  edit(form, area);
  cancelling(form);
}

/** Maximum number of visible options. */
const OFFERED = 12;

/** Names of relations and columns from `/query/names.json`. */
interface Name {
  readonly name: string;
  readonly about: string;
  readonly takes: readonly string[] | null;
  readonly columns: readonly (readonly [name: string, about: string])[];
}

function edit(form: HTMLFormElement, area: HTMLTextAreaElement): void {
  const ask = () => {
    form.requestSubmit();
    return true;
  };
  const colours = HighlightStyle.define([
    { tag: tags.keyword, color: 'var(--accent)' },
    { tag: [tags.string, tags.number, tags.bool, tags.null], color: 'var(--planned)' },
    { tag: tags.comment, color: 'var(--soft)' },
  ]);
  const extensions = (names: readonly Name[]) => [
    history(),
    // Tab leaves the editor, like every other control.
    keymap.of([{ key: 'Mod-Enter', run: ask }, ...completionKeymap, ...historyKeymap, ...defaultKeymap]),
    sql({ dialect: PostgreSQL, schema: schemaOf(names), defaultSchema: 'reporting' }),
    PostgreSQL.language.data.of({ autocomplete: columnsOfNamed(names) }),
    autocompletion({ maxRenderedOptions: OFFERED }),
    syntaxHighlighting(colours),
    EditorView.lineWrapping,
    placeholder(area.placeholder),
    EditorView.contentAttributes.of({ 'aria-label': 'SQL', id: 'editor' }),
    EditorView.updateListener.of(({ docChanged, state }) => {
      if (docChanged) area.value = state.doc.toString();
    }),
    EditorView.theme({
      '&': {
        backgroundColor: 'var(--panel)',
        color: 'var(--text)',
        fontSize: '0.875rem',
        borderRadius: 'var(--radius)',
      },
      '.cm-placeholder': { color: 'var(--soft)' },
      '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '2px' },
      '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.5' },
      '.cm-content': { minHeight: '9rem', padding: '0.5rem 0.25rem', caretColor: 'var(--text)' },
      '.cm-tooltip': {
        backgroundColor: 'var(--panel)',
        color: 'var(--text)',
        border: '1px solid var(--line)',
      },
      // The list shows other options when the selection moves, so that nothing in it has to be scrolled, which keys
      // cannot do.
      '.cm-tooltip.cm-tooltip-autocomplete > ul': { maxHeight: 'none', overflow: 'hidden' },
      '.cm-tooltip-autocomplete > ul > li[aria-selected]': {
        backgroundColor: 'var(--accent)',
        color: 'var(--on-accent)',
      },
      '.cm-completionInfo': { maxWidth: '22rem' },
      // Without room beside the list it would cover the options. It keeps its width: without one it would seem to fit.
      '.cm-completionInfo-left-narrow, .cm-completionInfo-right-narrow': { visibility: 'hidden' },
    }),
  ];
  const place = document.createElement('div');
  place.className = 'editor';
  area.before(place);
  // The styles of a shadow root are style sheets of objects, which the content security policy allows; it refuses
  // <style>.
  const root = place.attachShadow({ mode: 'open' });
  const state = (names: readonly Name[], doc: string, selection: EditorSelection) =>
    EditorState.create({ doc, selection, extensions: extensions(names) });
  const begun = EditorSelection.single(area.selectionStart, area.selectionEnd);
  const view = new EditorView({ state: state([], area.value, begun), parent: root, root });
  if (document.activeElement === area) view.focus();
  area.hidden = true;
  // A hidden field that is empty could not be reported.
  area.required = false;
  fetch('/query/names.json')
    .then((answer): Promise<readonly Name[]> => (answer.ok ? answer.json() : Promise.resolve([])))
    // They may arrive while the user types: the position in the text stays.
    .then((names) => view.setState(state(names, view.state.doc.toString(), view.state.selection)))
    .catch(() => {}); // without names it completes the words of SQL
}

function schemaOf(names: readonly Name[]) {
  return {
    reporting: Object.fromEntries(
      names.map(({ name, about, takes, columns }) => [
        name,
        {
          self: {
            label: name,
            type: takes ? 'function' : 'type',
            info: takes ? `${about} Parameters: ${takes.join(', ')}.` : about,
            ...(takes ? { apply: `${name}(` } : {}),
          },
          children: columns.map(optionOf),
        },
      ]),
    ),
  };
}

const optionOf = ([label, info]: Name['columns'][number]) => ({ label, info, type: 'property' });

/** Completes the columns of the relations in the statement, also without a name and a dot before them. */
function columnsOfNamed(names: readonly Name[]): CompletionSource {
  return (context) => {
    const word = context.matchBefore(/[\w.]*/);
    if (!word || word.text.includes('.') || (word.text === '' && !context.explicit)) return null;
    const said = new Set(context.state.doc.toString().match(/\w+/g));
    const columns = names.filter(({ name }) => said.has(name)).flatMap((one) => one.columns.map(optionOf));
    const options = [...new Map(columns.map((one) => [one.label, one])).values()];
    return { from: word.from, options, validFor: /^\w*$/ };
  };
}

/** During a query, a button stops the wait; the server cancels abandoned queries. */
function cancelling(form: HTMLFormElement): void {
  const button = form.querySelector<HTMLButtonElement>('[data-cancel]');
  const progress = form.querySelector('[data-progress]');
  if (!button || !progress) return;
  const show = (asking: boolean, said: string) => {
    button.hidden = !asking;
    progress.textContent = said;
  };
  form.addEventListener('submit', () => show(true, 'Running…'));
  button.addEventListener('click', () => {
    window.stop();
    show(false, 'Cancelled.');
  });
  // A page that is restored from the browser's memory waits for nothing.
  addEventListener('pageshow', () => show(false, ''));
}
