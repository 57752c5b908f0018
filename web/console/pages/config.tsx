// The configuration: the masked one in force, a refused one with its line, and the check of a text before it is
// written.
import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ConfigCheck, ConfigProblem } from '../../../src/contract/operator/config-view.ts'
import { Filled } from '../../shared/filled.tsx'
import { oneLine } from '../../shared/text.ts'
import { api, post } from '../api.ts'
import { useConsole } from '../console-context.ts'
import { Empty, Head, Outcome, Panel, Waiting } from '../parts.tsx'
import { useAct, useAsked } from '../queries.ts'
import { hrefOf, type Route } from '../route.ts'
import { words } from '../words.ts'

const texts = words.config
const { titles } = words.frame

export function ConfigPage({ route }: { readonly route: Route }): JSX.Element {
  const { can } = useConsole()
  const asked = useAsked(api('GET /api/config'), ['config'])
  const { busy, outcome, act } = useAct()
  const view = asked.data
  const key = route.query.get('key')
  const reload = async () => {
    const answer = await act('reload', () => post('POST /api/reload'))
    if (answer?.ok) asked.refresh()
  }
  return (
    <>
      <Head title={titles.config} lead={<a href={hrefOf('agents')}>{titles.agents}</a>}>
        {can('admin.write') && (
          <button type="button" class="button" disabled={busy !== null} onClick={() => void reload()}>
            {texts.reload}
          </button>
        )}
      </Head>
      <Outcome outcome={outcome} />
      {key !== null && (
        <p class="banner">
          <Filled text={texts.lookingFor} parts={{ key: <code>{oneLine(key, 160)}</code> }} />
        </p>
      )}
      {view === null ? (
        <Waiting problem={asked.problem} />
      ) : (
        <>
          {view.refused !== undefined && (
            <Panel title={texts.refused} note={texts.refusedNote}>
              <Problems problems={view.refused.problems} />
              <Lines
                lines={view.refused.lines}
                problems={view.refused.problems}
                label={texts.refusedFile}
                wanted={null}
              />
            </Panel>
          )}
          <Panel title={texts.inForce} note={view.file === null ? texts.embedded : oneLine(view.file, 90)}>
            {view.warnings.map((one) => (
              <p key={one} class="tone-warn">
                {oneLine(one, 300)}
              </p>
            ))}
            {view.file === null ? (
              <Empty>
                <Filled text={texts.noFile} parts={{ command: <code>switchboard init</code> }} />
              </Empty>
            ) : (
              <Lines lines={view.lines} problems={[]} label={texts.file} wanted={key} />
            )}
          </Panel>
        </>
      )}
      {can('admin.write') && <CheckText />}
    </>
  )
}

function Problems({ problems }: { readonly problems: readonly ConfigProblem[] }): JSX.Element {
  return (
    <ul class="problems">
      {problems.map((one) => (
        <li key={`${one.line}:${one.column} ${one.message}`} class="tone-bad">
          {one.line > 0 && <strong>{texts.place({ line: one.line, column: one.column })}</strong>}
          {oneLine(one.message, 400)}
          {one.hint !== null && <span class="line-sub">{oneLine(one.hint, 300)}</span>}
        </li>
      ))}
    </ul>
  )
}

const LONG = 2_000

function Lines(props: {
  readonly lines: readonly string[]
  readonly problems: readonly ConfigProblem[]
  readonly label: string
  readonly wanted: string | null
}): JSX.Element {
  const { lines, problems } = props
  const wrong = new Set(problems.map((one) => one.line))
  const at = props.wanted === null ? null : lineOf(props.wanted, lines)
  const marked = useRef<HTMLLIElement>(null)
  useEffect(() => marked.current?.scrollIntoView({ block: 'center' }), [at, lines.length])
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling box must be reachable by keyboard
    // biome-ignore lint/a11y/useSemanticElements: it scrolls, and is no form
    <div class="yaml" tabIndex={0} role="group" aria-label={props.label}>
      <ol>
        {lines.slice(0, LONG).map((line, index) => (
          <li
            key={index}
            ref={at === index + 1 ? marked : null}
            class={wrong.has(index + 1) ? 'yaml-wrong' : at === index + 1 ? 'yaml-wanted' : ''}
          >
            <code>{line === '' ? ' ' : line}</code>
          </li>
        ))}
      </ol>
      {lines.length > LONG && <p class="quiet">{texts.moreLines({ count: lines.length - LONG })}</p>}
    </div>
  )
}

/** Finds roughly the entry of `integrations[1].access.dm`, then the deepest written key below it. */
function lineOf(key: string, lines: readonly string[]): number | null {
  const parts = key.replace(/^.*: /, '').match(/[A-Za-z_][\w-]*|\[\d+\]/g) ?? []
  let from = 0
  let to = lines.length
  let found: number | null = null
  for (const part of parts) {
    const index = /^\[(\d+)\]$/.exec(part)?.[1]
    const next =
      index === undefined ? lineWith(part, lines, from, to) : entryOf(Number(index), lines, from, to)
    if (next === null) break
    found = next + 1
    from = index === undefined ? next + 1 : next
    // The same line may contain the rest: { id: web, enabled: false }.
    if (index === undefined && /[{[]/.test(lines[next] ?? '')) from = next
    to = endOf(next, lines, to)
  }
  return found
}

function lineWith(word: string, lines: readonly string[], from: number, to: number): number | null {
  const wanted = new RegExp(`(^|[\\s{,-])${word}\\s*:`)
  for (let at = from; at < to; at += 1) if (wanted.test(lines[at] ?? '')) return at
  return null
}

function entryOf(index: number, lines: readonly string[], from: number, to: number): number | null {
  let left = index
  let indent: number | null = null
  for (let at = from; at < to; at += 1) {
    const dash = /^(\s*)-\s/.exec(lines[at] ?? '')
    if (dash === null) continue
    indent ??= dash[1]?.length ?? 0
    if ((dash[1]?.length ?? 0) !== indent) continue
    if (left === 0) return at
    left -= 1
  }
  return null
}

function endOf(start: number, lines: readonly string[], to: number): number {
  const depth = (line: string) => /^\s*/.exec(line)?.[0].length ?? 0
  const own = depth(lines[start] ?? '')
  for (let at = start + 1; at < to; at += 1) {
    const line = lines[at] ?? ''
    if (line.trim() === '') continue
    if (depth(line) < own || (depth(line) === own && !/^\s*-\s/.test(line))) return at
    if (depth(line) === own && /^\s*-\s/.test(lines[start] ?? '')) return at
  }
  return to
}

function CheckText(): JSX.Element {
  const [text, setText] = useState('')
  const [checked, setChecked] = useState<ConfigCheck | null>(null)
  const { busy, outcome, act } = useAct()
  const check = async (event: SubmitEvent) => {
    event.preventDefault()
    const answer = await act('check', () => post('POST /api/config/check', { body: { text } }))
    setChecked(answer?.ok ? (answer.body as unknown as ConfigCheck) : null)
  }
  return (
    <Panel title={texts.checkText} note={texts.checkNote}>
      <form onSubmit={(event) => void check(event)} aria-label={texts.checkText}>
        <label class="field wide">
          <span>switchboard.yaml</span>
          <textarea
            class="yaml-text"
            rows={12}
            spellcheck={false}
            value={text}
            onInput={(event) => {
              setText(event.currentTarget.value)
              setChecked(null)
            }}
          />
        </label>
        <div class="buttons spaced">
          <button type="submit" class="button" disabled={busy !== null || text.trim() === ''}>
            {texts.check}
          </button>
        </div>
      </form>
      <Outcome outcome={outcome} />
      <div role="status">
        {checked?.ok === true && <p class="tone-good">{texts.valid}</p>}
        {checked !== null && <Problems problems={checked.problems} />}
        {checked?.warnings.map((one) => (
          <p key={one} class="tone-warn">
            {oneLine(one, 300)}
          </p>
        ))}
      </div>
    </Panel>
  )
}
