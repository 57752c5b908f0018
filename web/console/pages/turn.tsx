// One turn in full: its states and attempts, the agent's work and cost, its approvals, and its sends.
import type { JSX } from 'preact'
import type { TurnDetail, UsageView } from '../../../src/contract/operator/views.ts'
import { oneLine } from '../../shared/text.ts'
import { api, post } from '../api.ts'
import { useConsole } from '../console-context.ts'
import { Ago, Exact, Facts, Head, Name, Outcome, Panel, Pill, spanWords, Waiting } from '../parts.tsx'
import { useAct, useAsked } from '../queries.ts'
import { reasonWords } from '../reasons.ts'
import { hrefOf } from '../route.ts'

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
        <Head title="Turn" lead={<a href={hrefOf('turns')}>Turn log</a>} />
        <Waiting problem={asked.problem} />
      </>
    )
  return (
    <>
      <Head title="Turn" lead={<a href={hrefOf('turns')}>Turn log</a>} />
      <Panel title={one.id} note={<Pill state={one.state} />}>
        {one.reason !== null && <p>{reasonWords(one.reason)}</p>}
        {one.text === null ? (
          <p class="quiet">It has no text, or it is no longer kept.</p>
        ) : (
          <Exact text={one.text} label="What was said" />
        )}
        <TurnFacts one={one} />
        {can('admin.write') && <Mend one={one} busy={busy !== null} operate={operate} />}
        <Outcome outcome={outcome} />
      </Panel>
      {one.events.length > 0 && (
        <Panel title="What the agent did">
          <ToolEvents events={one.events} />
        </Panel>
      )}
      {one.approvals.length > 0 && (
        <Panel title="Approvals">
          <ApprovalLines asks={one.approvals} />
        </Panel>
      )}
      {one.sends.length > 0 && (
        <Panel title="Sent for it">
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
          'from',
          <Name
            key="s"
            text={one.sender_name === undefined ? one.sender : `${one.sender_name} (${one.sender})`}
            max={80}
          />,
        ],
        [
          'source',
          <a key="o" href={hrefOf('agents', one.integration)}>
            <Name text={one.source} />
          </a>,
        ],
        [
          'conversation',
          <a key="c" href={hrefOf('conversations', one.address)}>
            <Name text={one.address} max={90} />
          </a>,
        ],
        [
          'agent',
          one.agent === null ? null : (
            <a key="a" href={hrefOf('agents', one.agent)}>
              <Name text={one.agent} />
            </a>
          ),
        ],
        ['attempts', `${one.attempts}${one.repeat ? ', may have been seen before: marked as a repeat' : ''}`],
        ['received', <Ago key="r" at={one.received_at} />],
        ['last change', <Ago key="u" at={one.updated_at} />],
        [
          'took',
          one.state === 'answered'
            ? spanWords(Date.parse(one.updated_at) - Date.parse(one.received_at))
            : null,
        ],
        ['found late', one.late ? 'yes: it was missed, and found in the history' : null],
        ['cost', one.usage === undefined ? null : <Cost key="k" usage={one.usage} />],
        ['message id', <code key="m">{oneLine(one.message_id, 80)}</code>],
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
          Offer again
        </button>
      )}
      {OPEN.includes(one.state) && (
        <button type="button" class="button button-bad" disabled={busy} onClick={operate('cancel')}>
          Cancel
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
                  'nobody yet'
                ) : (
                  <>
                    by <Name text={ask.decided_by} /> {ask.decided_via === null ? '' : `(${ask.decided_via})`}
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
              {send.text === null ? <i class="quiet">no longer kept</i> : <Name text={send.text} max={200} />}
              <span class="line-sub">
                {send.cause}, {send.attempts} {send.attempts === 1 ? 'attempt' : 'attempts'}
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
      {input_tokens.toLocaleString()} in, {output_tokens.toLocaleString()} out
      {cost === undefined ? '' : ` · ${cost.toFixed(4)}`}
    </span>
  )
}

const SIGNS: Readonly<Record<string, string>> = { tool_call: 'called', tool_result: 'got', error: 'error' }

export function ToolEvents({ events }: { readonly events: TurnDetail['events'] }): JSX.Element {
  return (
    <ol class="events">
      {events.map((one) => (
        <li key={one.n} class={one.kind === 'error' ? 'tone-bad' : ''}>
          {one.kind === 'omitted' ? (
            'more were told than are kept'
          ) : (
            <details>
              <summary>
                <span class="quiet">{SIGNS[one.kind] ?? one.kind}</span> <Name text={one.name ?? ''} />{' '}
                <span class="quiet">{oneLine(one.text ?? 'no longer kept, or not for your role', 90)}</span>
              </summary>
              <Exact text={one.text ?? ''} label={`What was ${SIGNS[one.kind] ?? 'told'}`} />
            </details>
          )}
        </li>
      ))}
    </ol>
  )
}
