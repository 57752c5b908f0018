// Conversations: every place with messages, newest first, with search and filters.
import type { JSX } from 'preact'
import type { ConversationView } from '../../../src/contract/operator/conversations.ts'
import type { StatusReport } from '../../../src/contract/operator/views.ts'
import type { QueryOf } from '../../../src/operations/routes.ts'
import { oneLine } from '../../shared/text.ts'
import { api } from '../api.ts'
import { Choice, TextFilter } from '../fields.tsx'
import { usePages } from '../paged.ts'
import { Ago, Empty, Head, Name, Panel, Pill, Waiting } from '../parts.tsx'
import type { Asked } from '../queries.ts'
import { go, hrefOf, type Route } from '../route.ts'
import { VirtualList } from '../virtual-list.tsx'
import { ThreadPage } from './thread.tsx'

const HOLDING: readonly (readonly [string, string])[] = [
  ['', 'all'],
  ['asked', 'asking for a person'],
  ['held', 'held by a person'],
]

interface Props {
  readonly route: Route
  readonly status: Asked<StatusReport>
}

export function ConversationsPage({ route, status }: Props): JSX.Element {
  if (route.item !== null) return <ThreadPage key={route.item} address={route.item} />
  return <List route={route} status={status} />
}

function List({ route, status }: Props): JSX.Element {
  const { query } = route
  const filter = {
    q: query.get('q') ?? '',
    integration: query.get('integration') ?? '',
    agent: query.get('agent') ?? '',
    held: query.get('held') ?? '',
    asked: query.get('asked') ?? '',
  }
  const list = usePages(
    api('GET /api/conversations', { query: { ...filter, limit: 100 } as QueryOf<'GET /api/conversations'> }),
    ['turn', 'turns', 'sends', 'takeover'],
    (one) => one.address,
  )
  const pick = (key: string) => (value: string) => go('conversations', null, { ...filter, [key]: value })
  const holding = filter.held === 'true' ? 'held' : filter.asked === 'true' ? 'asked' : ''
  const hold = (value: string) =>
    go('conversations', null, {
      ...filter,
      held: value === 'held' ? 'true' : '',
      asked: value === 'asked' ? 'true' : '',
    })
  const named = (rows: readonly { readonly id: string }[]) =>
    rows.map((one) => [one.id, oneLine(one.id, 40)] as const)
  return (
    <>
      <Head
        title="Conversations"
        lead="What people and agents say to each other, and where you may step in."
      />
      <div class="filters">
        <TextFilter label="Search" value={filter.q} placeholder="name or id" onText={pick('q')} />
        <Choice
          label="Integration"
          value={filter.integration}
          options={[['', 'any'], ...named(status.data?.integrations ?? [])]}
          onPick={pick('integration')}
        />
        <Choice
          label="Agent"
          value={filter.agent}
          options={[['', 'any'], ...named(status.data?.agents ?? [])]}
          onPick={pick('agent')}
        />
        <Choice label="Which" value={holding} options={HOLDING} onPick={hold} />
      </div>
      <Panel title="Conversations" note="newest first">
        {list.items === null ? (
          <Waiting problem={list.problem} />
        ) : list.items.length === 0 && list.done ? (
          <Empty>No conversation matches.</Empty>
        ) : (
          <VirtualList
            label="Conversations"
            items={list.items}
            keyOf={(one) => one.address}
            height={72}
            onEnd={list.more}
            href={(one) => hrefOf('conversations', one.address)}
            row={(one) => <ConversationRow one={one} />}
          />
        )}
      </Panel>
    </>
  )
}

function ConversationRow({ one }: { readonly one: ConversationView }): JSX.Element {
  const { last, takeover } = one
  return (
    <>
      <span class="row-main">
        <strong>
          <Name text={one.sender_name ?? one.sender ?? one.address} />{' '}
          <span class="quiet row-where">
            <Name text={one.integration} max={30} />
            {one.agent === null ? '' : ` → ${oneLine(one.agent, 30)}`}
          </span>
        </strong>
        <span class="row-sub">
          {one.label !== null && (
            <>
              <Name text={one.label} max={80} /> ·{' '}
            </>
          )}
          {last === null ? '' : last.direction === 'out' ? '↩ ' : ''}
          {last?.text === null || last === null ? 'no text' : <Name text={last.text} max={160} />}
        </span>
      </span>
      <span class="row-side">
        {takeover === null ? (
          last !== null && <Pill state={last.state} />
        ) : (
          <Pill
            state={takeover.state}
            text={
              takeover.state === 'asked'
                ? 'asks for a person'
                : takeover.mine
                  ? 'yours'
                  : `held by ${oneLine(takeover.holder_name ?? '', 20)}`
            }
          />
        )}
        <Ago at={one.last_at} />
      </span>
    </>
  )
}
