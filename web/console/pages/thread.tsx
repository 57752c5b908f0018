// One conversation as the person saw it, with the details they did not see: states, attempts, approvals, tools and
// cost. Here an operator takes it over, writes as a person, and gives it back.
import type { JSX } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { ThreadItem } from '../../../src/contract/operator/conversations.ts'
import { Filled } from '../../shared/filled.tsx'
import { oneLine } from '../../shared/text.ts'
import { api } from '../api.ts'
import { usePages } from '../paged.ts'
import { Empty, Head, Name, Waiting } from '../parts.tsx'
import { useAsked } from '../queries.ts'
import { hrefOf } from '../route.ts'
import { keyOf, LONG, ThreadRow } from '../thread-item.tsx'
import { words } from '../words.ts'
import { StepIn } from './step-in.tsx'

const texts = words.thread

/** The most entries on the page. A reader who scrolls up leaves the newest, and returns to them by a button. */
const MOST_SHOWN = 150
const PAGE = 50

const keyIn = (item: ThreadItem | undefined) => (item === undefined ? undefined : keyOf(item))

export function ThreadPage({ address }: { readonly address: string }): JSX.Element {
  const kinds = ['turn', 'turns', 'sends', 'approval', 'takeover']
  const asked = useAsked(api('GET /api/conversations/{address}', { path: { address } }), kinds)
  const one = asked.data
  const refresh = useRef<() => void>(() => undefined)
  return (
    <div class="thread-page">
      <Head
        title={one === null ? texts.one : oneLine(one.sender_name ?? one.sender ?? address, 60)}
        lead={
          <>
            <a href={hrefOf('conversations')}>{words.frame.titles.conversations}</a> ·{' '}
            <Name text={address} max={90} />
            {one !== null && one.label !== null && (
              <>
                {' '}
                · <Name text={one.label} max={120} />
              </>
            )}
            {one?.agent === null || one === null ? (
              ''
            ) : (
              <>
                {' '}
                ·{' '}
                <Filled
                  text={texts.answeredBy}
                  parts={{
                    agent: (
                      <a href={hrefOf('agents', one.agent)}>
                        <Name text={one.agent} />
                      </a>
                    ),
                  }}
                />
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
  const path = api('GET /api/conversations/{address}/thread', {
    path: { address: props.address },
    query: { limit: PAGE, chars: LONG },
  })
  const list = usePages(path, ['turn', 'turns', 'sends', 'approval', 'takeover'], keyOf)
  const box = useRef<HTMLOListElement>(null)
  const atEnd = useRef(true)
  /** Keeps the reader's position while earlier entries are inserted above. */
  const anchor = useRef<{ readonly row: Element; top: number; readonly above?: string } | null>(null)
  /** The last entry on the page; null: the page follows the newest. */
  const [last, setLast] = useState<string | null>(null)
  if (props.onRefresh !== undefined) props.onRefresh.current = list.refresh
  const items = list.items ?? []
  const behind = last === null ? -1 : items.findIndex((one) => keyOf(one) === last)
  const shown = items.slice(Math.max(0, behind), Math.max(0, behind) + MOST_SHOWN)
  const [newest, oldest] = [keyIn(shown[0]), keyIn(shown.at(-1))]
  const reaches = keyIn(items.at(-1)) === oldest
  // New entries scroll into view only if the reader is at the end.
  useLayoutEffect(() => {
    const at = box.current
    const held = anchor.current
    if (at === null) return
    if (held?.row.isConnected) at.scrollTop += held.row.getBoundingClientRect().top - held.top
    else if (atEnd.current) at.scrollTop = at.scrollHeight
    if (held?.above !== oldest) anchor.current = null
  }, [newest, oldest, items.length])
  const isThere = list.items !== null
  // Content below makes the box smaller. A reader at the end stays there.
  useEffect(() => {
    const at = box.current
    if (at === null) return
    const watch = new ResizeObserver(() => {
      if (atEnd.current) at.scrollTop = at.scrollHeight
    })
    watch.observe(at)
    return () => watch.disconnect()
  }, [isThere])
  const wanted = useRef(false)
  const earlier = () => {
    atEnd.current = false
    const row = box.current?.children[1]
    if (row !== undefined)
      anchor.current = { row, top: row.getBoundingClientRect().top, ...(oldest && { above: oldest }) }
    if (!reaches) return setLast(keyIn(items[Math.max(0, behind) + PAGE]) ?? null)
    wanted.current = true
    list.more()
  }
  // Earlier entries have loaded, so the page scrolls to keep the position.
  useEffect(() => {
    const isWanted = wanted.current
    wanted.current = false
    if (isWanted && !reaches) setLast(keyIn(items[items.length - MOST_SHOWN]) ?? null)
  }, [items.length])
  if (list.items === null) return <Waiting problem={list.problem} />
  return (
    <ol
      ref={box}
      class="thread"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling box must be reachable by keyboard
      tabIndex={0}
      aria-label={texts.messages}
      onScroll={(event) => {
        const at = event.currentTarget
        if (anchor.current !== null) anchor.current.top = anchor.current.row.getBoundingClientRect().top
        atEnd.current = last === null && at.scrollHeight - at.scrollTop - at.clientHeight < 60
      }}
    >
      {(!list.done || !reaches) && (
        <li class="thread-more" key="earlier">
          <button type="button" class="button small" onClick={earlier}>
            {texts.earlier}
          </button>
        </li>
      )}
      {items.length === 0 && list.done && (
        <li key="empty">
          <Empty>{texts.nothing}</Empty>
        </li>
      )}
      {[...shown].reverse().map((item) => (
        <ThreadRow key={keyOf(item)} item={item} />
      ))}
      {behind > 0 && (
        <li class="thread-more" key="newest">
          <button
            type="button"
            class="button small"
            onClick={() => {
              atEnd.current = true
              setLast(null)
            }}
          >
            {texts.newest}
          </button>
        </li>
      )}
    </ol>
  )
}
