// The outbox: failed and unknown sends. They are retried or given up, one or many at once.
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { OperatedSend } from '../../../src/contract/operator/config-view.ts'
import type { SendView } from '../../../src/contract/operator/views.ts'
import { Filled } from '../../shared/filled.tsx'
import { oneLine } from '../../shared/text.ts'
import { api, post } from '../api.ts'
import { useConsole } from '../console-context.ts'
import { Choice } from '../fields.tsx'
import { usePages } from '../paged.ts'
import { Ago, Empty, Exact, Facts, Head, Name, Outcome, Panel, Pill, Waiting } from '../parts.tsx'
import { useAct, useAsked } from '../queries.ts'
import { reasonWords } from '../reasons.ts'
import { go, hrefOf, type Route } from '../route.ts'
import { VirtualList } from '../virtual-list.tsx'
import { words } from '../words.ts'

const texts = words.outbox
const { facts } = texts

const STATES: readonly (readonly [string, string])[] = [
  ['failed,unknown', texts.states.stuck],
  ['failed', texts.states.failed],
  ['unknown', texts.states.unknown],
  ['queued,sending', texts.states.onTheirWay],
  ['sent', texts.states.sent],
  ['deduplicated', texts.states.deduplicated],
]

export function OutboxPage({ route }: { readonly route: Route }): JSX.Element {
  if (route.item !== null) return <OneSend key={route.item} id={route.item} />
  return <Sends route={route} />
}

function isStuck(send: SendView): boolean {
  return send.state === 'unknown' || (send.state === 'failed' && send.reason !== 'buried')
}

function Sends({ route }: { readonly route: Route }): JSX.Element {
  const { can } = useConsole()
  const state = route.query.get('state') ?? 'failed,unknown'
  const list = usePages(
    api('GET /api/outbox', { query: { state, limit: 100, chars: 400 } }),
    ['sends'],
    (one) => one.id,
  )
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set())
  const { busy, outcome, act } = useAct()
  const [failures, setFailures] = useState<readonly OperatedSend[]>([])
  const mayMend = can('admin.write')
  const stuck = (list.items ?? []).filter(isStuck)
  const chosen = stuck.filter((one) => marked.has(one.id))
  const operate: Operate = async (verb, ids) => {
    const answer = await act(verb, () => post('POST /api/outbox/operate', { body: { verb, ids: [...ids] } }))
    const items = answer?.body.items ?? []
    setFailures(items.filter((one) => !one.ok))
    setMarked(new Set())
    list.restart()
  }
  const mark = (id: string) => {
    const next = new Set(marked)
    if (!next.delete(id)) next.add(id)
    setMarked(next)
  }
  return (
    <>
      <Head title={words.frame.titles.outbox} lead={texts.lead}>
        <Choice
          label={texts.state}
          value={state}
          options={STATES}
          onPick={(value) => go('outbox', null, { state: value })}
        />
      </Head>
      {mayMend && stuck.length > 0 && (
        <MarkBar
          stuck={stuck}
          chosen={chosen}
          busy={busy !== null}
          onMark={(ids) => setMarked(new Set(ids))}
          operate={operate}
        />
      )}
      <Outcome outcome={outcome} />
      {failures.length > 0 && (
        <ul class="outcome outcome-bad" role="status">
          {failures.slice(0, 20).map((one) => (
            <li key={one.id}>
              <code>{oneLine(one.id, 60)}</code>: {oneLine(one.problem ?? '', 200)}
            </li>
          ))}
        </ul>
      )}
      <Panel title={STATES.find(([value]) => value === state)?.[1] ?? state}>
        {list.items === null ? (
          <Waiting problem={list.problem} />
        ) : list.items.length === 0 && list.done ? (
          <Empty>{state === 'failed,unknown' ? texts.arrived : texts.none}</Empty>
        ) : (
          <VirtualList
            label={texts.messages}
            items={list.items}
            keyOf={(one) => one.id}
            height={72}
            onEnd={list.more}
            href={(one) => hrefOf('outbox', one.id)}
            row={(one) => <SendRow one={one} />}
            aside={(one) =>
              mayMend && isStuck(one) ? (
                <RowButtons
                  id={one.id}
                  marked={marked.has(one.id)}
                  busy={busy !== null}
                  onMark={() => mark(one.id)}
                  operate={operate}
                />
              ) : null
            }
          />
        )}
      </Panel>
    </>
  )
}

type Operate = (verb: 'retry' | 'bury', ids: readonly string[]) => Promise<void>

const idsOf = (sends: readonly SendView[]) => sends.map((one) => one.id)

/** The actions on all marked rows, above the list. */
function MarkBar(props: {
  readonly stuck: readonly SendView[]
  readonly chosen: readonly SendView[]
  readonly busy: boolean
  readonly onMark: (ids: readonly string[]) => void
  readonly operate: Operate
}): JSX.Element {
  const { stuck, chosen, busy, onMark, operate } = props
  return (
    <div class="bar">
      <label class="check">
        <input
          type="checkbox"
          checked={chosen.length === stuck.length}
          onChange={() => onMark(chosen.length === stuck.length ? [] : idsOf(stuck))}
        />
        {chosen.length === 0
          ? texts.markAll({ count: stuck.length })
          : texts.marked({ count: chosen.length })}
      </label>
      <button
        type="button"
        class="button"
        disabled={chosen.length === 0 || busy}
        onClick={() => void operate('retry', idsOf(chosen))}
      >
        {texts.sendAgain}
      </button>
      <button
        type="button"
        class="button button-bad"
        disabled={chosen.length === 0 || busy}
        onClick={() => void operate('bury', idsOf(chosen))}
      >
        {texts.bury}
      </button>
    </div>
  )
}

function RowButtons(props: {
  readonly id: string
  readonly marked: boolean
  readonly busy: boolean
  readonly onMark: () => void
  readonly operate: Operate
}): JSX.Element {
  const { id, marked, busy, onMark, operate } = props
  return (
    <>
      <label class="check" aria-label={texts.mark({ id })}>
        <input type="checkbox" data-key="x" checked={marked} onChange={onMark} />
      </label>
      <button
        type="button"
        class="button small"
        data-key="r"
        disabled={busy}
        onClick={() => void operate('retry', [id])}
      >
        {texts.again}
      </button>
      <button
        type="button"
        class="button button-bad small"
        data-key="b"
        disabled={busy}
        onClick={() => void operate('bury', [id])}
      >
        {texts.bury}
      </button>
    </>
  )
}

function SendRow({ one }: { readonly one: SendView }): JSX.Element {
  return (
    <>
      <span class="row-main">
        <span>
          {one.text === null ? <i class="quiet">{texts.notKept}</i> : <Name text={one.text} max={160} />}
        </span>
        <span class="row-sub">
          <Filled text={texts.to} parts={{ address: <Name text={one.to} max={50} /> }} />
          {one.reason === null ? '' : ` · ${reasonWords(one.reason)}`}
        </span>
      </span>
      <span class="row-side">
        <Pill state={one.state} text={one.reason === 'buried' ? texts.buried : one.state} />
        <Ago at={one.updated_at} />
      </span>
    </>
  )
}

function OneSend({ id }: { readonly id: string }): JSX.Element {
  const { can } = useConsole()
  const asked = useAsked(api('GET /api/outbox/{id}', { path: { id } }), ['sends'])
  const { busy, outcome, act } = useAct()
  const one = asked.data
  const operate = (verb: 'retry' | 'bury') => async () => {
    await act(verb, () => post(`POST /api/outbox/{id}/${verb}`, { path: { id } }))
    asked.refresh()
  }
  return (
    <>
      <Head title={texts.one} lead={<a href={hrefOf('outbox')}>{words.frame.titles.outbox}</a>} />
      {one === null ? (
        <Waiting problem={asked.problem} />
      ) : (
        <Panel title={oneLine(one.id, 60)} note={<Pill state={one.state} />}>
          {one.reason !== null && <p class={isStuck(one) ? 'tone-bad' : ''}>{reasonWords(one.reason)}</p>}
          {one.detail !== null && <p class="quiet">{oneLine(one.detail, 600)}</p>}
          {one.text === null ? (
            <p class="quiet">{texts.textNotKept}</p>
          ) : (
            <Exact text={one.text} label={texts.text} />
          )}
          <Facts
            facts={[
              [
                facts.to,
                <a key="t" href={hrefOf('conversations', one.to)}>
                  <Name text={one.to} max={90} />
                </a>,
              ],
              [facts.agent, one.agent === null ? null : <Name key="a" text={one.agent} />],
              [facts.cause, one.cause],
              [facts.attempts, String(one.attempts)],
              [facts.receipt, one.receipt],
              [
                facts.platformIds,
                one.platform_ids.length === 0 ? null : oneLine(one.platform_ids.join(', '), 200),
              ],
              [facts.created, <Ago key="c" at={one.created_at} />],
              [facts.updated, <Ago key="u" at={one.updated_at} />],
              [
                facts.answers,
                one.turn === null ? null : (
                  <a key="r" href={hrefOf('turns', one.turn)}>
                    <code>{one.turn}</code>
                  </a>
                ),
              ],
            ]}
          />
          {can('admin.write') && isStuck(one) && (
            <div class="buttons spaced">
              <button
                type="button"
                class="button button-main"
                disabled={busy !== null}
                onClick={operate('retry')}
              >
                {texts.sendAgain}
              </button>
              <button
                type="button"
                class="button button-bad"
                disabled={busy !== null}
                onClick={operate('bury')}
              >
                {texts.bury}
              </button>
            </div>
          )}
          <Outcome outcome={outcome} />
        </Panel>
      )}
    </>
  )
}
