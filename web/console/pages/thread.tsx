// One conversation as the person saw it, with what they did not see: states, attempts, approvals, tools and cost. From here
// somebody steps in: takes it, writes as a person, gives it back.
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { oneLine } from '../../shared/text.ts'
import type { Conversation, ThreadItem } from '../conversation-types.ts'
import { api, useAsked } from '../desk.ts'
import { usePages } from '../paged.ts'
import { Empty, Head, Name, Waiting } from '../parts.tsx'
import { hrefOf } from '../route.ts'
import { ThreadRow } from '../thread-item.tsx'
import { StepIn } from './step-in.tsx'

/** More than this are not kept on the page: who reads on leaves the newest behind. */
const MOST_SHOWN = 600

export function ThreadPage({ address }: { readonly address: string }): JSX.Element {
  const kinds = ['turn', 'turns', 'sends', 'approval', 'takeover']
  const asked = useAsked<Conversation>(api(['conversations', address]), kinds)
  const one = asked.data
  const refresh = useRef<() => void>(() => undefined)
  return (
    <div class="thread-page">
      <Head
        title={one === null ? 'Conversation' : oneLine(one.sender_name ?? one.sender ?? address, 60)}
        lead={
          <>
            <a href={hrefOf('conversations')}>Conversations</a> · <Name text={address} max={90} />
            {one?.agent === null || one === null ? (
              ''
            ) : (
              <>
                {' '}
                · answered by{' '}
                <a href={hrefOf('agents', one.agent)}>
                  <Name text={one.agent} />
                </a>
              </>
            )}
          </>
        }
      />
      {one === null && asked.problem !== null && <Waiting problem={asked.problem} />}
      <Thread address={address} onRefresh={refresh} />
      {one !== null && (
        <StepIn
          conversation={one}
          onDone={() => {
            asked.refresh()
            refresh.current()
          }}
        />
      )}
    </div>
  )
}

export function Thread(props: {
  readonly address: string
  readonly onRefresh?: { current: () => void }
}): JSX.Element {
  const path = api(['conversations', props.address, 'thread'], { limit: 50 })
  const list = usePages<ThreadItem>(
    path,
    ['turn', 'turns', 'sends', 'approval', 'takeover'],
    (item) => item.id,
  )
  const box = useRef<HTMLOListElement>(null)
  const atEnd = useRef(true)
  if (props.onRefresh !== undefined) props.onRefresh.current = list.refresh
  const items = list.items ?? []
  const newest = items[0]?.id
  // What comes while the reader is at the end is followed; who reads above is left alone.
  useEffect(() => {
    const at = box.current
    if (at !== null && atEnd.current) at.scrollTop = at.scrollHeight
  }, [newest, items.length])
  if (list.items === null) return <Waiting problem={list.problem} />
  const shown = items.slice(-MOST_SHOWN)
  return (
    <ol
      ref={box}
      class="thread"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling box must be reachable by keyboard
      tabIndex={0}
      aria-label="Messages"
      onScroll={(event) => {
        const at = event.currentTarget
        atEnd.current = at.scrollHeight - at.scrollTop - at.clientHeight < 60
      }}
    >
      {!list.done && (
        <li class="thread-more">
          <button
            type="button"
            class="button small"
            onClick={() => {
              atEnd.current = false
              list.more()
            }}
          >
            Earlier
          </button>
        </li>
      )}
      {items.length === 0 && list.done && (
        <li>
          <Empty>Nothing was said here yet.</Empty>
        </li>
      )}
      {[...shown].reverse().map((item) => (
        <ThreadRow key={item.id} item={item} />
      ))}
    </ol>
  )
}
