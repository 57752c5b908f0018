// The chat page: header, log, composer, and the page without a session.
import type { JSX } from 'preact'
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Filled } from '../shared/filled.tsx'
import { DownIcon, Logo } from '../shared/icons.tsx'
import { Markdown } from '../shared/markdown-view.tsx'
import { formatDay, oneLine } from '../shared/text.ts'
import { Composer, type Suggestion } from './composer.tsx'
import { ChatGate } from './gate.tsx'
import { Menu } from './menu.tsx'
import { Message } from './message.tsx'
import { type Choice, type Entry, inOrder } from './model.ts'
import type { Session, View } from './session.ts'
import { words } from './words.ts'

const NEAR_PX = 120
const GROUP_MS = 5 * 60_000
// Words of the demo agent. Another agent may read them otherwise, so they are put into the composer and not sent.
const SUGGESTIONS = ['help', 'deploy', 'remind me in 5s']

export function App({ session }: { readonly session: Session }): JSX.Element {
  const [view, setView] = useState<View>(session.view())
  useEffect(() => {
    const show = (): void => setView(session.view())
    const unsubscribe = session.subscribe(show)
    // An effect runs after the first render, and the gateway may have answered before it.
    show()
    return unsubscribe
  }, [session])
  const [replyTo, setReplyTo] = useState<Entry | null>(null)
  const [suggested, setSuggested] = useState<Suggestion | null>(null)
  const agent = oneLine(view.me?.agent ?? 'Switchboard', 40)
  useUnreadTitle(view, agent)

  if (view.phase !== 'open' || view.me === null) return <ChatGate phase={view.phase} />
  return (
    <div class="page">
      <header class="head">
        <Logo />
        <div class="head-words">
          <h1>
            <bdi>{agent}</bdi>
          </h1>
          <Presence view={view} />
        </div>
        <Menu session={session} me={view.me} />
      </header>
      <main class="middle">
        {!view.online && (
          <p class="banner" role="status">
            <span class="spinner" aria-hidden="true" /> {words.head.reconnecting}
          </p>
        )}
        {view.problem !== null && (
          <p class="banner banner-bad" role="alert">
            {view.problem}{' '}
            <button type="button" class="link" onClick={() => session.dismiss()}>
              {words.head.dismiss}
            </button>
          </p>
        )}
        <Log
          session={session}
          view={view}
          agent={agent}
          onReply={setReplyTo}
          onSuggest={(text) => setSuggested({ text })}
        />
      </main>
      <Composer
        me={view.me}
        agent={agent}
        suggested={suggested}
        replyTo={replyTo}
        onCancelReply={() => setReplyTo(null)}
        onSend={(text, files) => {
          session.send(text, files, replyTo?.id ?? null)
          setReplyTo(null)
        }}
      />
    </div>
  )
}

/** The presence of the agent. A banner reports when the page itself is disconnected. */
function Presence({ view }: { readonly view: View }): JSX.Element {
  const { online, agentHere } = view
  const state = !online ? 'down' : agentHere === false ? 'away' : 'up'
  const { down, away, connected, working, online: here } = words.head.presence
  const shown = { down, away, up: agentHere === null ? connected : view.typing ? working : here }
  return (
    <p class={`head-state is-${state}`} role="status">
      <span class="lamp" aria-hidden="true" />
      {shown[state]}
    </p>
  )
}

interface LogProps {
  readonly session: Session
  readonly view: View
  readonly agent: string
  readonly onReply: (entry: Entry) => void
  readonly onSuggest: (text: string) => void
}

function Log({ session, view, agent, onReply, onSuggest }: LogProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null)
  const inside = useRef<HTMLDivElement>(null)
  const atBottom = useRef(true)
  const heightBefore = useRef(0)
  const [away, setAway] = useState(false)
  const entries = inOrder(view.chat)
  const last = entries.at(-1)
  const first = entries[0]?.id

  const toBottom = useCallback((behavior: ScrollBehavior = 'instant') => {
    box.current?.scrollTo({ top: box.current.scrollHeight, behavior })
  }, [])

  // An own new message always scrolls into view. Others do only if the reader is at the end.
  useLayoutEffect(() => {
    if (atBottom.current || last?.unsent === true) toBottom()
  }, [entries.length, last?.id, view.typing, view.partial, view.chat, toBottom])

  // A banner or an attachment makes the log smaller. The end stays in view.
  useEffect(() => {
    if (box.current === null) return
    const watch = new ResizeObserver(() => {
      if (atBottom.current) toBottom()
    })
    watch.observe(box.current)
    // A picture that loads late makes the content longer.
    if (inside.current !== null) watch.observe(inside.current)
    return () => watch.disconnect()
  }, [toBottom])

  // Older entries are inserted above. The reader's position stays.
  useLayoutEffect(() => {
    const log = box.current
    if (log === null) return
    if (heightBefore.current > 0 && !atBottom.current)
      log.scrollTop += log.scrollHeight - heightBefore.current
    heightBefore.current = 0
  }, [first])

  const older = (): void => {
    heightBefore.current = box.current?.scrollHeight ?? 0
    void session.older()
  }

  const show = (id: string): void => {
    const at = box.current?.querySelector(`[data-id="${CSS.escape(id)}"]`)
    at?.scrollIntoView({ block: 'center' })
    at?.classList.add('shown')
    setTimeout(() => at?.classList.remove('shown'), 1_600)
  }

  return (
    <div class="log-frame">
      <div
        class="log"
        ref={box}
        role="log"
        aria-live="polite"
        aria-label={words.log.label}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling box must be reachable by keyboard
        tabIndex={0}
        onScroll={(event) => {
          const log = event.currentTarget
          atBottom.current = log.scrollHeight - log.scrollTop - log.clientHeight < NEAR_PX
          setAway(!atBottom.current)
        }}
      >
        <div class="log-inner" ref={inside}>
          {view.before !== null && (
            <button type="button" class="older link" onClick={older}>
              {words.log.older}
            </button>
          )}
          {entries.length === 0 && <Empty agent={agent} onPick={onSuggest} />}
          {entries.map((entry, i) => {
            const previous = entries[i - 1]
            const day = formatDay(entry.at, Date.now())
            const newDay = previous === undefined || formatDay(previous.at, Date.now()) !== day
            const following = entries[i + 1]
            const grouped = following !== undefined && inOneGroup(entry, following)
            return (
              <>
                {newDay && (
                  <p class="day" key={`day-${entry.id}`}>
                    <span>{day}</span>
                  </p>
                )}
                <Message
                  key={entry.id}
                  entry={entry}
                  edit={view.chat.edits.get(entry.id)}
                  tap={view.chat.taps.get(entry.id)}
                  online={view.online}
                  agent={agent}
                  follows={!newDay && inOneGroup(previous, entry)}
                  next={grouped ? following : null}
                  quoted={quotedBy(entry, previous, view.chat.entries)}
                  self={view.me?.sender ?? ''}
                  onShow={show}
                  onTap={(on: Entry, choice: Choice) => void session.tap(on, choice)}
                  onReply={onReply}
                  onDelete={(entry) => void session.remove(entry)}
                />
              </>
            )
          })}
          {view.partial !== null && (
            <article
              class="message theirs partial"
              aria-label={words.log.writing({ agent })}
              aria-busy="true"
            >
              <Markdown text={view.partial} />
            </article>
          )}
          {view.typing && (
            <div class="typing" role="status" aria-label={words.log.working({ agent })}>
              <span class="dots" aria-hidden="true">
                <i />
                <i />
                <i />
              </span>
              {view.status !== null && <span class="typing-words">{oneLine(view.status, 120)}</span>}
            </div>
          )}
        </div>
      </div>
      {away && (
        <button
          type="button"
          class="to-bottom"
          aria-label={words.log.toNewest}
          onClick={() => toBottom('smooth')}
        >
          <DownIcon />
        </button>
      )}
    </div>
  )
}

/** Whether two entries of one speaker are close in time, so that one state line below the last is enough. */
function inOneGroup(one: Entry, next: Entry): boolean {
  const sameDay = formatDay(one.at, next.at) === formatDay(next.at, next.at)
  const spoken = one.kind !== 'prompt' && next.kind !== 'prompt'
  return spoken && sameDay && one.dir === next.dir && next.at - one.at < GROUP_MS
}

/** An answer directly below its question needs no quote. */
function quotedBy(
  { replyTo }: Entry,
  previous: Entry | undefined,
  entries: View['chat']['entries'],
): Entry | 'earlier' | null {
  if (replyTo === undefined || previous?.id === replyTo) return null
  return entries.get(replyTo) ?? 'earlier'
}

function Empty({
  agent,
  onPick,
}: {
  readonly agent: string
  readonly onPick: (text: string) => void
}): JSX.Element {
  return (
    <section class="empty">
      <Logo />
      <h2>
        <Filled text={words.log.hello} parts={{ agent: <bdi>{agent}</bdi> }} />
      </h2>
      <p>{words.log.kept}</p>
      <div class="buttons">
        {SUGGESTIONS.map((text) => (
          <button key={text} type="button" class="button" onClick={() => onPick(text)}>
            {text}
          </button>
        ))}
      </div>
    </section>
  )
}

/** The title of a tab in the background shows the number of new messages. */
function useUnreadTitle(view: View, agent: string): void {
  const seen = useRef(0)
  const count = [...view.chat.entries.values()].filter((entry) => entry.dir === 'out').length
  useEffect(() => {
    const show = (): void => {
      if (!document.hidden) seen.current = count
      const unread = count - seen.current
      document.title = unread > 0 ? `(${unread}) ${agent}` : agent
    }
    show()
    document.addEventListener('visibilitychange', show)
    return () => document.removeEventListener('visibilitychange', show)
  }, [count, agent])
}
