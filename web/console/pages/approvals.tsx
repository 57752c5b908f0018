// Approvals: the open ones with their whole input, and past decisions with the person, the place and the time taken.
import type { JSX } from 'preact'
import type { ApprovalView, AskedView } from '../../../src/contract/operator/views.ts'
import { Filled } from '../../shared/filled.tsx'
import { ShieldIcon } from '../../shared/icons.tsx'
import { oneLine, revealHidden, timeLeft } from '../../shared/text.ts'
import { api, post } from '../api.ts'
import { useConsole } from '../console-context.ts'
import { usePages } from '../paged.ts'
import {
  Ago,
  Empty,
  Exact,
  Facts,
  Head,
  Name,
  Outcome,
  Panel,
  Pill,
  spanWords,
  useNow,
  Waiting,
} from '../parts.tsx'
import { useAct, useAsked } from '../queries.ts'
import { hrefOf, type Route } from '../route.ts'
import { VirtualList } from '../virtual-list.tsx'
import { words } from '../words.ts'

const texts = words.approvals
const { facts } = texts

export function ApprovalsPage({ route }: { readonly route: Route }): JSX.Element {
  if (route.item !== null) return <OneApproval key={route.item} id={route.item} />
  return <AllApprovals />
}

function AllApprovals(): JSX.Element {
  const waiting = useAsked(api('GET /api/approvals', { query: { state: 'pending', limit: 200 } }), [
    'approval',
  ])
  const past = usePages(
    api('GET /api/approvals', {
      query: { state: 'decided,passing,relayed,undeliverable,expired,withdrawn', limit: 50 },
    }),
    ['approval'],
    (one) => String(one.seq),
  )
  return (
    <>
      <Head title={words.frame.titles.approvals} lead={texts.lead} />
      {waiting.data === null ? (
        <Waiting problem={waiting.problem} />
      ) : waiting.data.items.length === 0 ? (
        <Empty>{texts.nothing}</Empty>
      ) : (
        <ul class="cards">
          {waiting.data.items.map((one) => (
            <PendingCard key={one.seq} one={one} onDone={waiting.refresh} />
          ))}
        </ul>
      )}
      <Panel title={texts.past} note={texts.pastNote}>
        {past.items === null ? (
          <Waiting problem={past.problem} />
        ) : past.items.length === 0 && past.done ? (
          <Empty>{texts.nothingPast}</Empty>
        ) : (
          <VirtualList
            label={texts.past}
            items={past.items}
            keyOf={(one) => String(one.seq)}
            height={64}
            onEnd={past.more}
            row={(one) => <PastRow one={one} />}
            href={(one) => hrefOf('approvals', one.id)}
          />
        )}
      </Panel>
    </>
  )
}

function OneApproval({ id }: { readonly id: string }): JSX.Element {
  // Ids are reused, so this reads the newest one.
  const asked = useAsked(api('GET /api/approvals', { query: { id, limit: 1 } }), ['approval'])
  const one = asked.data?.items[0]
  return (
    <>
      <Head title={texts.one({ id: oneLine(id, 20) })} lead={<a href={hrefOf('approvals')}>{texts.all}</a>} />
      {one === undefined ? (
        asked.data === null ? (
          <Waiting problem={asked.problem} />
        ) : (
          <Empty>{texts.none}</Empty>
        )
      ) : one.state === 'pending' ? (
        <>
          <ul class="cards">
            <PendingCard one={one} onDone={asked.refresh} />
          </ul>
          <Asked places={one.asked ?? []} />
        </>
      ) : (
        <Panel title={oneLine(one.tool_name, 80)}>
          <Why text={one.description ?? ''} />
          <Input one={one} />
          <Asked places={one.asked ?? []} />
          <Facts
            facts={[
              [facts.outcome, <Pill key="p" state={one.behavior ?? one.state} text={outcomeWords(one)} />],
              [facts.decidedBy, one.decided_by === null ? null : <Name text={one.decided_by} />],
              [facts.where, one.decided_via],
              [facts.when, <Ago key="a" at={one.decided_at} />],
              [facts.took, tookWords(one)],
              [facts.askedBy, <Name key="n" text={one.agent} />],
              [facts.asked, <Ago key="c" at={one.created_at} />],
              [facts.inputHash, <code key="h">{one.input_hash.slice(0, 16)}</code>],
              [facts.turn, turnLink(one)],
            ]}
          />
        </Panel>
      )}
    </>
  )
}

/** Which people were asked, where, and whether the question arrived. */
function Asked({ places }: { readonly places: readonly AskedView[] }): JSX.Element {
  if (places.length === 0) return <p class="quiet">{texts.noChat}</p>
  return (
    <ul class="asked" aria-label={texts.whoWasAsked}>
      {places.map(({ integration, conversation, thread, who, name, state, reason, detail }) => (
        <li key={JSON.stringify([integration, conversation, thread])}>
          <Name text={name ?? who ?? texts.itsApprovers} />
          {name !== null && who !== null && name !== who ? (
            <>
              {' '}
              (<Name text={who} />)
            </>
          ) : null}{' '}
          <Filled
            text={texts.askedIn}
            parts={{
              place: (
                <Name text={[integration, conversation, ...(thread === null ? [] : [thread])].join(':')} />
              ),
            }}
          />{' '}
          <Pill state={state} text={[state, reason, detail].filter((one) => one !== null).join(', ')} />
        </li>
      ))}
    </ul>
  )
}

function turnLink(one: ApprovalView): JSX.Element | null {
  return one.turn === null || one.turn === undefined ? null : (
    <a href={hrefOf('turns', one.turn)}>
      <code>{one.turn}</code>
    </a>
  )
}

function PendingCard({
  one,
  onDone,
}: {
  readonly one: ApprovalView
  readonly onDone: () => void
}): JSX.Element {
  const { can } = useConsole()
  const now = useNow()
  const { busy, outcome, act } = useAct()
  const decide = (behavior: 'allow' | 'deny') => async () => {
    await act(behavior, () =>
      post('POST /api/approvals/{id}/decide', { path: { id: one.id }, body: { behavior } }),
    )
    onDone()
  }
  const mayDecide = can('approval.decide')
  const label = texts.oneOf({ id: one.id, tool: oneLine(one.tool_name, 60) })
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: `j` and `k` move between the cards
    <li class="card" data-row tabIndex={0} aria-label={label}>
      <header class="card-head">
        <ShieldIcon />
        <strong class="card-tool">
          <bdi>{revealHidden(oneLine(one.tool_name, 80))}</bdi>
        </strong>
        <a class="card-id" href={hrefOf('approvals', one.id)}>
          <code>{one.id}</code>
        </a>
        <span class="card-left">{timeLeft(new Date(one.expires_at).getTime() - now)}</span>
      </header>
      <Why text={one.description ?? ''} />
      <Input one={one} />
      <p class="card-when">
        <Filled
          text={texts.asked}
          parts={{ agent: <Name text={one.agent} />, time: <Ago at={one.created_at} /> }}
        />{' '}
        {turnLink(one)}
      </p>
      {mayDecide ? (
        <div class="buttons">
          <button
            type="button"
            class="button button-good"
            data-key="y"
            disabled={busy !== null}
            onClick={decide('allow')}
          >
            {texts.allow} <kbd>y</kbd>
          </button>
          <button
            type="button"
            class="button button-bad"
            data-key="n"
            disabled={busy !== null}
            onClick={decide('deny')}
          >
            {texts.deny} <kbd>n</kbd>
          </button>
        </div>
      ) : (
        <p class="quiet">{texts.notForRole}</p>
      )}
      <Outcome outcome={outcome} />
    </li>
  )
}

/** A viewer sees that there is a question, but not its content. */
function Input({ one }: { readonly one: ApprovalView }): JSX.Element {
  const input = one.input as string | null
  if (input === null) return <p class="quiet">{texts.inputNotForRole}</p>
  if (input === '') return <p class="quiet">{texts.noInput}</p>
  return <Exact text={input} label={texts.wholeInput} />
}

function PastRow({ one }: { readonly one: ApprovalView }): JSX.Element {
  const took = tookWords(one)
  return (
    <>
      <span class="row-main">
        <strong>
          <Name text={one.tool_name} />
        </strong>
        <span class="row-sub">
          {one.decided_by === null ? texts.nobody : <Name text={one.decided_by} />}
          {one.decided_via === null ? '' : texts.by({ place: one.decided_via })}
          {took === null ? '' : texts.after({ span: took })}
        </span>
      </span>
      <span class="row-side">
        <Pill state={one.behavior ?? one.state} text={outcomeWords(one)} />
        <Ago at={one.decided_at ?? one.created_at} />
      </span>
    </>
  )
}

function outcomeWords(one: ApprovalView): string {
  const { outcome } = texts
  if (one.state === 'withdrawn') return outcome.withdrawn
  if (one.cause === 'expired') return outcome.expired
  if (one.cause === 'unreachable') return outcome.unreachable
  const verb = one.behavior === 'allow' ? outcome.allowed : outcome.denied
  if (one.state === 'undeliverable') return outcome.agentGone({ verb })
  return one.state === 'decided' || one.state === 'passing' ? outcome.onItsWay({ verb }) : verb
}

function tookWords(one: ApprovalView): string | null {
  if (one.decided_at === null) return null
  return spanWords(new Date(one.decided_at).getTime() - new Date(one.created_at).getTime())
}

/** Shows the whole reason, because the important command may be at its end. */
function Why({ text }: { readonly text: string }): JSX.Element | null {
  if (text === '') return null
  const short = text.length <= 600 && !text.includes('\n')
  return short ? <p class="card-why">{revealHidden(text)}</p> : <Exact text={text} label={texts.purpose} />
}
