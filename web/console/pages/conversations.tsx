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
import { words } from '../words.ts'
import { ThreadPage } from './thread.tsx'

const texts = words.conversations
const title = words.frame.titles.conversations

const HOLDING: readonly (readonly [string, string])[] = [
  ['', texts.takeovers.all],
  ['asked', texts.takeovers.asked],
  ['held', texts.takeovers.held],
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
      <Head title={title} lead={texts.lead} />
      <div class="filters">
        <TextFilter label={texts.search} value={filter.q} placeholder={texts.searchFor} onText={pick('q')} />
        <Choice
          label={texts.integration}
          value={filter.integration}
          options={[['', texts.any], ...named(status.data?.integrations ?? [])]}
          onPick={pick('integration')}
        />
        <Choice
          label={texts.agent}
          value={filter.agent}
          options={[['', texts.any], ...named(status.data?.agents ?? [])]}
          onPick={pick('agent')}
        />
        <Choice label={texts.takeover} value={holding} options={HOLDING} onPick={hold} />
      </div>
      <Panel title={title} note={texts.newestFirst}>
        {list.items === null ? (
          <Waiting problem={list.problem} />
        ) : list.items.length === 0 && list.done ? (
          <Empty>{texts.none}</Empty>
        ) : (
          <VirtualList
            label={title}
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
          {last?.text === null || last === null ? texts.noText : <Name text={last.text} max={160} />}
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
                ? texts.asks
                : takeover.mine
                  ? texts.mine
                  : texts.heldBy({ name: oneLine(takeover.holder_name ?? '', 20) })
            }
          />
        )}
        <Ago at={one.last_at} />
      </span>
    </>
  )
}
