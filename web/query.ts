import { autocompletion, type CompletionSource, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { PostgreSQL, sql } from '@codemirror/lang-sql';
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { EditorSelection, EditorState } from '@codemirror/state';
import { EditorView, keymap, placeholder } from '@codemirror/view';
import { tags } from '@lezer/highlight';

/**
 * Replaces the text area of `/query` with an editor that completes names, and adds a button that cancels the
 * query. The text area remains in the form as a hidden field with the statement.
 */
const form = document.querySelector<HTMLFormElement>('form[data-query]');
const area = form?.querySelector('textarea');
if (form && area) {
  addEditor(form, area);
  addCancelButton(form);
}

/** Maximum number of visible completions. */
const MAX_COMPLETIONS = 12;

/** A relation with its columns, from `/query/names.json`. */
interface CompletedRelation {
  readonly name: string;
  readonly about: string;
  readonly takes: readonly string[] | null;
  readonly columns: readonly (readonly [name: string, about: string])[];
}

function addEditor(form: HTMLFormElement, area: HTMLTextAreaElement): void {
  const submit = () => {
    form.requestSubmit();
    return true;
  };
  const colours = HighlightStyle.define([
    { tag: tags.keyword, color: 'var(--accent)' },
    { tag: [tags.string, tags.number, tags.bool, tags.null], color: 'var(--planned)' },
    { tag: tags.comment, color: 'var(--soft)' },
  ]);
  const extensions = (names: readonly CompletedRelation[]) => [
    history(),
    // The tab key moves the focus out of the editor, as in every other control.
    keymap.of([{ key: 'Mod-Enter', run: submit }, ...completionKeymap, ...historyKeymap, ...defaultKeymap]),
    sql({ dialect: PostgreSQL, schema: schemaOf(names), defaultSchema: 'reporting' }),
    PostgreSQL.language.data.of({ autocomplete: columnsOfNamed(names) }),
    autocompletion({ maxRenderedOptions: MAX_COMPLETIONS }),
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
      // The list replaces its options when the selection moves, so it needs no scroll bar, which has no
      // keyboard control.
      '.cm-tooltip.cm-tooltip-autocomplete > ul': { maxHeight: 'none', overflow: 'hidden' },
      '.cm-tooltip-autocomplete > ul > li[aria-selected]': {
        backgroundColor: 'var(--accent)',
        color: 'var(--on-accent)',
      },
      '.cm-completionInfo': { maxWidth: '22rem' },
      // On a narrow screen, the description of an option would cover the options. The description is only
      // hidden, because CodeMirror measures its width to select the layout.
      '.cm-completionInfo-left-narrow, .cm-completionInfo-right-narrow': { visibility: 'hidden' },
    }),
  ];
  const place = document.createElement('div');
  place.className = 'editor';
  area.before(place);
  // In a shadow root, CodeMirror uses constructed style sheets, which the Content Security Policy allows. The
  // policy does not allow <style> elements.
  const root = place.attachShadow({ mode: 'open' });
  const state = (names: readonly CompletedRelation[], doc: string, selection: EditorSelection) =>
    EditorState.create({ doc, selection, extensions: extensions(names) });
  const begun = EditorSelection.single(area.selectionStart, area.selectionEnd);
  const view = new EditorView({ state: state([], area.value, begun), parent: root, root });
  if (document.activeElement === area) view.focus();
  area.hidden = true;
  // The browser cannot display a validation error at a hidden field.
  area.required = false;
  fetch('/query/names.json')
    .then(
      (answer): Promise<readonly CompletedRelation[]> => (answer.ok ? answer.json() : Promise.resolve([])),
    )
    // The user may type before the names are loaded, so the new state keeps the text and the selection.
    .then((names) => view.setState(state(names, view.state.doc.toString(), view.state.selection)))
    .catch(() => {}); // without names, the editor completes only SQL keywords
}

function schemaOf(names: readonly CompletedRelation[]) {
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

const optionOf = ([label, info]: CompletedRelation['columns'][number]) => ({ label, info, type: 'property' });

/**
 * Completes names of columns of all relations in the statement, without a qualifier (`relation.`) before the
 * name.
 */
function columnsOfNamed(names: readonly CompletedRelation[]): CompletionSource {
  return (context) => {
    const word = context.matchBefore(/[\w.]*/);
    if (!word || word.text.includes('.') || (word.text === '' && !context.explicit)) return null;
    const words = new Set(context.state.doc.toString().match(/\w+/g));
    const columns = names.filter(({ name }) => words.has(name)).flatMap((one) => one.columns.map(optionOf));
    const options = [...new Map(columns.map((one) => [one.label, one])).values()];
    return { from: word.from, options, validFor: /^\w*$/ };
  };
}

/** Shows the cancel button while a query runs. The server cancels the query when the browser disconnects. */
function addCancelButton(form: HTMLFormElement): void {
  const button = form.querySelector<HTMLButtonElement>('[data-cancel]');
  const progress = form.querySelector('[data-progress]');
  if (!button || !progress) return;
  const show = (isRunning: boolean, text: string) => {
    button.hidden = !isRunning;
    progress.textContent = text;
  };
  form.addEventListener('submit', () => show(true, 'Running…'));
  button.addEventListener('click', () => {
    window.stop();
    show(false, 'Cancelled.');
  });
  // A page that the browser restores from its back/forward cache has no running query.
  addEventListener('pageshow', () => show(false, ''));
}
