// The state of the page. It enters with the link's ticket, loads the history, keeps the stream open, and sends
// messages. Components only read `state` and call the functions.
import { freshId } from '../shared/fresh-id.ts'
import type { GatePhase } from '../shared/gate.tsx'
import { call } from '../shared/http.ts'
import { pause } from '../shared/pause.ts'
import { keepDraft } from './draft.ts'
import { type FreshLink, type LinkAnswer, linkFor } from './link-for.ts'
import {
  applyAccepted,
  applyStates,
  type Chat,
  type Choice,
  EMPTY_CHAT,
  type Entry,
  type FileRef,
  mergeEntries,
  type StateNews,
  setTap,
} from './model.ts'
import { createOutbox, type Outbox } from './outbox.ts'
import { createSendWaiting } from './send-waiting.ts'
import { createStream } from './stream.ts'
import { words } from './words.ts'

export interface Me {
  readonly sender: string
  readonly name: string | null
  readonly agent: string | null
  readonly integration: string
  readonly limits: {
    readonly text_chars: number
    readonly upload_bytes: number
    readonly attachments: number
  }
}

export interface Connection {
  readonly id: string
  readonly platform: string
  readonly complete: {
    readonly state: 'complete' | 'behind' | 'unchecked'
    readonly until: string | null
    readonly detail?: string
  }
}

export interface View {
  readonly phase: GatePhase
  readonly me: Me | null
  readonly chat: Chat
  readonly online: boolean
  /** Whether the agent can be reached; null: unknown. */
  readonly agentHere: boolean | null
  readonly typing: boolean
  readonly status: string | null
  /** The answer so far while it is being written, or null. */
  readonly partial: string | null
  /** The cursor of the next older page; null when all is loaded. */
  readonly before: string | null
  /** An error of the gateway, until it is dismissed. */
  readonly problem: string | null
}

export interface Session {
  view(): View
  subscribe(run: () => void): () => void
  start(): Promise<void>
  send(text: string, attachments: readonly FileRef[], replyTo: string | null): void
  tap(entry: Entry, choice: Choice): Promise<void>
  /** Removes an own message that still waits. */
  remove(entry: Entry): Promise<void>
  older(): Promise<void>
  freshLink(): Promise<FreshLink>
  /** Returns how complete each integration is; null: this person may not see it. */
  connections(): Promise<readonly Connection[] | null>
  logout(): Promise<void>
  dismiss(): void
}

const TYPING_MS = 12_000

export function createSession(): Session {
  let view: View = {
    phase: 'starting',
    me: null,
    chat: EMPTY_CHAT,
    online: false,
    agentHere: null,
    typing: false,
    status: null,
    partial: null,
    before: null,
    problem: null,
  }
  const listeners = new Set<() => void>()
  let outbox: Outbox | null = null
  let otherTabs: BroadcastChannel | null = null
  /** How often a link in another tab signed in. The tabs share the cookie, so its session is also this tab's. */
  let entered = 0
  const doors = new BroadcastChannel('switchboard:entered')
  doors.onmessage = () => {
    entered += 1
    if (view.phase === 'no-session' || view.phase === 'stale-link') location.reload()
    else if (view.phase === 'open') void stillOurs()
  }
  let loadingOlder = false
  let typingTimer: ReturnType<typeof setTimeout> | undefined

  function set(change: Partial<View>): void {
    view = { ...view, ...change }
    for (const run of listeners) run()
  }

  const stream = createStream('/chat/stream', {
    entry(entry) {
      if (entry.dir === 'in') outbox?.remove(entry.id)
      if (entry.dir === 'out') showTyping(false)
      set({ chat: mergeEntries(view.chat, [entry]) })
    },
    states: (news) => set({ chat: applyStates(view.chat, news) }),
    typing: showTyping,
    status: (text) => set({ status: text === '' ? null : text }),
    partial(text) {
      showTyping(true)
      set({ partial: text })
    },
    agent: (here) => set({ agentHere: here }),
    up() {
      set({ online: true })
      void flush()
    },
    async down() {
      set({ online: false, typing: false, status: null, partial: null })
      return (await stillOurs()) ? 'again' : 'give-up'
    },
    reset: () => load(true),
  })

  /** A stream cannot tell "no session" from "no server", but a plain request can. */
  async function stillOurs(): Promise<boolean> {
    const before = entered
    const asked = await call('GET', '/chat/me')
    // The request used the cookie of a session that another tab's link has just replaced.
    if (asked.status === 401 && entered !== before) return stillOurs()
    if (asked.status === 401) {
      stream.close()
      set({ phase: 'no-session', online: false })
      return false
    }
    const other = asked.ok && typeof asked.body.sender === 'string' && asked.body.sender !== view.me?.sender
    // A link for another person was opened in this browser. Their chats must not mix.
    if (other) location.reload()
    return !other
  }

  function showTyping(on: boolean): void {
    clearTimeout(typingTimer)
    if (on) typingTimer = setTimeout(() => set({ typing: false, status: null, partial: null }), TYPING_MS)
    if (view.typing !== on || !on) set({ typing: on, ...(on ? {} : { status: null, partial: null }) })
  }

  /** Loads the newest page. `anew` clears the log first, because there may be a gap before the page. */
  async function load(anew: boolean): Promise<string | null> {
    const page = await call('GET', '/chat/history?limit=60')
    if (!page.ok || !Array.isArray(page.body.entries)) return null
    const base = anew ? { ...EMPTY_CHAT, taps: view.chat.taps } : view.chat
    const entries = page.body.entries as readonly Entry[]
    const known = new Set(entries.map((entry) => entry.id))
    const waiting = (outbox?.all() ?? []).filter((item) => !known.has(item.clientId)).map(unsentEntry)
    set({
      chat: mergeEntries(base, [...entries, ...waiting]),
      before: page.body.before as string | null,
    })
    return page.body.cursor as string
  }

  async function enter(): Promise<boolean> {
    const ticket = new URLSearchParams(location.hash.slice(1)).get('ticket')
    if (ticket === null) return false
    // The ticket must not stay in the address bar, the history or a bookmark.
    history.replaceState(null, '', location.pathname)
    for (let attempt = 0; ; attempt += 1) {
      const answer = await call('POST', '/chat/session', { ticket })
      if (answer.ok) {
        doors.postMessage(null)
        return false
      }
      if (answer.code !== null && answer.status < 500) return true
      set({ phase: 'unreachable' })
      await pause(Math.min(5_000, 500 * 2 ** attempt))
    }
  }

  async function start(): Promise<void> {
    const stale = await enter()
    for (let attempt = 0; ; attempt += 1) {
      const me = await call('GET', '/chat/me')
      if (me.ok && typeof me.body.sender === 'string') {
        const found = me.body as unknown as Me
        const outboxKey = `switchboard:outbox:${found.integration}:${found.sender}`
        outbox = createOutbox(outboxKey, localStorage)
        set({ me: found })
        hearOtherTabs(outboxKey)
        const cursor = await load(false)
        if (cursor !== null) {
          set({ phase: 'open' })
          stream.open(cursor)
          stream.background(document.hidden)
          return
        }
      } else if (me.status === 401 || me.status === 403) {
        // A used link still works in the browser that used it. It is stale only without a session.
        return set({ phase: stale ? 'stale-link' : 'no-session' })
      }
      set({ phase: 'unreachable' })
      await pause(Math.min(5_000, 500 * 2 ** attempt))
    }
  }

  function send(text: string, attachments: readonly FileRef[], replyTo: string | null): void {
    const item = { clientId: freshId(), text, at: Date.now(), attachments, replyTo }
    outbox?.add(item)
    set({ chat: mergeEntries(view.chat, [unsentEntry(item)]) })
    void flush()
  }

  /** All tabs share one outbox, so another tab may have written a message that this one's send was refused for. */
  function hearOtherTabs(name: string): void {
    otherTabs?.close()
    otherTabs = new BroadcastChannel(name)
    otherTabs.onmessage = (event: MessageEvent<StateNews>) =>
      set({ chat: applyStates(view.chat, [event.data]) })
  }

  const flush = createSendWaiting({
    ...{ stillOurs, outbox: () => outbox, isOnline: () => view.online },
    taken: (news) => set({ chat: applyAccepted(view.chat, news) }),
    refused(news) {
      set({ chat: applyStates(view.chat, [news]) })
      otherTabs?.postMessage(news)
    },
  })

  async function tap(entry: Entry, choice: Choice): Promise<void> {
    const clientId = freshId()
    const show = (phase: 'deciding' | 'told' | 'failed', text: string): void =>
      set({ chat: setTap(view.chat, entry.id, { value: choice.value, phase, text }) })
    show('deciding', '')
    for (let attempt = 0; attempt < 4; attempt += 1) {
      const answer = await call('POST', '/chat/tap', { on: entry.id, value: choice.value, clientId })
      if (answer.ok && typeof answer.body.state === 'string') {
        const said = answer.body.answer as string | undefined
        const news = answer.body as unknown as StateNews
        if (news.state === 'refused') return show('failed', news.reasonText ?? words.tap.refused)
        return show('told', said ?? '')
      }
      if (answer.status >= 300 && answer.status < 500 && answer.status !== 429) {
        return show('failed', answer.problem)
      }
      await pause(answer.retryAfterMs ?? 600 * 2 ** attempt)
    }
    show('failed', words.tap.unreachable)
  }

  return {
    view: () => view,
    subscribe(run) {
      listeners.add(run)
      return () => listeners.delete(run)
    },
    start() {
      addEventListener('online', () => stream.hurry())
      document.addEventListener('visibilitychange', () => stream.background(document.hidden))
      return start()
    },
    send,
    tap,
    async remove(entry) {
      const answer = await call('POST', '/chat/delete', { id: entry.id })
      if (!answer.ok) return set({ problem: answer.problem })
      // The stream reports it too, but a window whose stream is down should not wait for it.
      if (answer.body.withdrawn === 0) return set({ problem: words.message.deletedLate })
      set({ chat: applyStates(view.chat, [{ id: entry.id, state: 'consumed', reason: 'withdrawn' }]) })
    },
    async connections() {
      const answer = await call('GET', '/chat/connections')
      return answer.ok ? (answer.body.connections as readonly Connection[]) : null
    },
    async older() {
      if (view.before === null || loadingOlder) return
      loadingOlder = true
      const page = await call('GET', `/chat/history?limit=60&before=${encodeURIComponent(view.before)}`)
      loadingOlder = false
      if (!page.ok || !Array.isArray(page.body.entries)) return set({ problem: page.problem })
      set({
        chat: mergeEntries(view.chat, page.body.entries as readonly Entry[]),
        before: page.body.before as string | null,
      })
    },
    async freshLink() {
      const answer = await call('POST', '/chat/link')
      if (!answer.ok) throw new Error(answer.problem)
      return linkFor(answer.body as unknown as LinkAnswer)
    },
    async logout() {
      let answer = await call('POST', '/chat/logout')
      // An idle connection may be closed during the request. Repeating it does no harm.
      if (answer.status === 0) answer = await call('POST', '/chat/logout')
      // 401: there was no session any more. After other failures the session lives, and the page must say so.
      if (!answer.ok && answer.status !== 401) {
        return set({ problem: words.menu.stillSignedIn({ why: answer.problem }) })
      }
      stream.close()
      if (view.me !== null) keepDraft(view.me, '')
      set({ phase: 'no-session', chat: EMPTY_CHAT })
    },
    dismiss: () => set({ problem: null }),
  }
}

function unsentEntry(item: {
  readonly clientId: string
  readonly text: string
  readonly at: number
  readonly attachments: readonly FileRef[]
  readonly replyTo: string | null
}): Entry {
  const { clientId: id, text, at, attachments, replyTo } = item
  return {
    ...{ id, dir: 'in', at, kind: 'text', text, attachments, unsent: true },
    ...(replyTo === null ? {} : { replyTo }),
  }
}
