// One turn in full: its states and attempts, the agent's work and cost, its approvals, and its sends.
import type { JSX } from 'preact'
import type { TurnDetail, UsageView } from '../../../src/contract/operator/views.ts'
import { Filled } from '../../shared/filled.tsx'
import { oneLine } from '../../shared/text.ts'
import { api, post } from '../api.ts'
import { useConsole } from '../console-context.ts'
import { Ago, Exact, Facts, Head, Name, Outcome, Panel, Pill, spanWords, Waiting } from '../parts.tsx'
import { useAct, useAsked } from '../queries.ts'
import { reasonWords } from '../reasons.ts'
import { hrefOf } from '../route.ts'
import { words } from '../words.ts'

const texts = words.turn
const { facts } = texts

const OPEN = ['queued', 'handed', 'seen']

export function OneTurn({ id }: { readonly id: string }): JSX.Element {
  const { can } = useConsole()
  const asked = useAsked(api('GET /api/turns/{id}', { path: { id } }), ['turn', 'turns', 'sends', 'approval'])
  const { busy, outcome, act } = useAct()
  const one = asked.data
  const operate = (verb: 'retry' | 'cancel') => async () => {
    await act(verb, () => post(`POST /api/turns/{id}/${verb}`, { path: { id } }))
    asked.refresh()
  }
  if (one === null)
    return (
      <>
        <Head title={texts.one} lead={<a href={hrefOf('turns')}>{words.frame.titles.turns}</a>} />
        <Waiting problem={asked.problem} />
      </>
    )
  return (
    <>
      <Head title={texts.one} lead={<a href={hrefOf('turns')}>{words.frame.titles.turns}</a>} />
      <Panel title={one.id} note={<Pill state={one.state} />}>
        {one.reason !== null && <p>{reasonWords(one.reason)}</p>}
        {one.text === null ? (
          <p class="quiet">{texts.noText}</p>
        ) : (
          <Exact text={one.text} label={texts.said} />
        )}
        <TurnFacts one={one} />
        {can('admin.write') && <Mend one={one} busy={busy !== null} operate={operate} />}
        <Outcome outcome={outcome} />
      </Panel>
      {one.events.length > 0 && (
        <Panel title={texts.events}>
          <ToolEvents events={one.events} />
        </Panel>
      )}
      {one.approvals.length > 0 && (
        <Panel title={texts.approvals}>
          <ApprovalLines asks={one.approvals} />
        </Panel>
      )}
      {one.sends.length > 0 && (
        <Panel title={texts.sends}>
          <SendLines sends={one.sends} />
        </Panel>
      )}
    </>
  )
}

function TurnFacts({ one }: { readonly one: TurnDetail }): JSX.Element {
  return (
    <Facts
      facts={[
        [
          facts.from,
          <Name
            key="s"
            text={one.sender_name === undefined ? one.sender : `${one.sender_name} (${one.sender})`}
            max={80}
          />,
        ],
        [
          facts.source,
          <a key="o" href={hrefOf('agents', one.integration)}>
            <Name text={one.source} />
          </a>,
        ],
        [
          facts.conversation,
          <a key="c" href={hrefOf('conversations', one.address)}>
            <Name text={one.address} max={90} />
          </a>,
        ],
        [
          facts.agent,
          one.agent === null ? null : (
            <a key="a" href={hrefOf('agents', one.agent)}>
              <Name text={one.agent} />
            </a>
          ),
        ],
        [facts.attempts, one.repeat ? texts.repeat({ count: one.attempts }) : String(one.attempts)],
        [facts.received, <Ago key="r" at={one.received_at} />],
        [facts.lastChange, <Ago key="u" at={one.updated_at} />],
        [
          facts.took,
          one.state === 'answered'
            ? spanWords(Date.parse(one.updated_at) - Date.parse(one.received_at))
            : null,
        ],
        [facts.late, one.late ? texts.late : null],
        [facts.cost, one.usage === undefined ? null : <Cost key="k" usage={one.usage} />],
        [facts.messageId, <code key="m">{oneLine(one.message_id, 80)}</code>],
      ]}
    />
  )
}

/** The actions of an operator. */
function Mend(props: {
  readonly one: TurnDetail
  readonly busy: boolean
  readonly operate: (verb: 'retry' | 'cancel') => () => Promise<void>
}): JSX.Element {
  const { one, busy, operate } = props
  return (
    <div class="buttons spaced">
      {(one.state === 'failed' || one.state === 'expired') && (
        <button type="button" class="button button-main" disabled={busy} onClick={operate('retry')}>
          {texts.retry}
        </button>
      )}
      {OPEN.includes(one.state) && (
        <button type="button" class="button button-bad" disabled={busy} onClick={operate('cancel')}>
          {texts.cancel}
        </button>
      )}
    </div>
  )
}

function ApprovalLines({ asks }: { readonly asks: TurnDetail['approvals'] }): JSX.Element {
  return (
    <ul class="lines">
      {asks.map((ask) => (
        <li key={ask.seq}>
          <a class="line" href={hrefOf('approvals', ask.id)}>
            <span class="line-words">
              <strong>
                <Name text={ask.tool_name} />
              </strong>
              <span class="line-sub">
                {ask.decided_by === null ? (
                  texts.undecided
                ) : (
                  <>
                    <Filled text={texts.decidedBy} parts={{ person: <Name text={ask.decided_by} /> }} />{' '}
                    {ask.decided_via === null ? '' : `(${ask.decided_via})`}
                  </>
                )}
              </span>
            </span>
            <Pill state={ask.behavior ?? ask.state} />
          </a>
        </li>
      ))}
    </ul>
  )
}

function SendLines({ sends }: { readonly sends: TurnDetail['sends'] }): JSX.Element {
  return (
    <ul class="lines">
      {sends.map((send) => (
        <li key={send.id}>
          <a class="line" href={hrefOf('outbox', send.id)}>
            <span class="line-words">
              {send.text === null ? (
                <i class="quiet">{texts.notKept}</i>
              ) : (
                <Name text={send.text} max={200} />
              )}
              <span class="line-sub">
                {texts.sentHow({ cause: send.cause, attempts: send.attempts })}
                {send.reason === null ? '' : ` · ${reasonWords(send.reason)}`}
              </span>
            </span>
            <Pill state={send.state} />
          </a>
        </li>
      ))}
    </ul>
  )
}

export function Cost({ usage }: { readonly usage: UsageView }): JSX.Element {
  const { input_tokens, output_tokens, cost } = usage
  return (
    <span>
      {texts.tokens({ input: input_tokens, output: output_tokens })}
      {cost === undefined ? '' : ` · ${cost.toFixed(4)}`}
    </span>
  )
}

export function ToolEvents({ events }: { readonly events: TurnDetail['events'] }): JSX.Element {
  return (
    <ol class="events">
      {events.map((one) => (
        <li key={one.n} class={one.kind === 'error' ? 'tone-bad' : ''}>
          {one.kind === 'omitted' ? (
            texts.omitted
          ) : (
            <details>
              <summary>
                <span class="quiet">{texts.kinds[one.kind]}</span> <Name text={one.name ?? ''} />{' '}
                <span class="quiet">{oneLine(one.text ?? texts.eventNotKept, 90)}</span>
              </summary>
              <Exact text={one.text ?? ''} label={texts.eventTexts[one.kind]} />
            </details>
          )}
        </li>
      ))}
    </ol>
  )
}
