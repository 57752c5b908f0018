// One entry of a conversation: its text, and below it its outcome.
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { ThreadItem } from '../../src/contract/operator/conversations.ts'
import type { TakeoverView } from '../../src/contract/platform/takeover.ts'
import { Filled } from '../shared/filled.tsx'
import { call } from '../shared/http.ts'
import { ClipIcon } from '../shared/icons.tsx'
import { Markdown } from '../shared/markdown-view.tsx'
import { formatSize, oneLine } from '../shared/text.ts'
import { api } from './api.ts'
import { Cost, ToolEvents } from './pages/turn.tsx'
import { Ago, Exact, Name, Pill } from './parts.tsx'
import { reasonWords } from './reasons.ts'
import { hrefOf } from './route.ts'
import { words } from './words.ts'

const texts = words.thread

export function ThreadRow({ item }: { readonly item: ThreadItem }): JSX.Element {
  if (item.kind === 'takeover') return <TakeoverLine one={item} />
  return item.kind === 'turn' ? <TurnEntry one={item} /> : <SendEntry one={item} />
}

/** A takeover has one entry for each part between messages. */
export function keyOf(item: ThreadItem): string {
  return item.kind === 'takeover' ? `${item.id} ${item.marks[0]}` : item.id
}

/** The length of a text in a thread. The reader can load the rest. */
export const LONG = 4_000

/** The text as the person wrote or saw it. The rest of a very long one is loaded on demand. */
function Words({ of, path }: { readonly of: Said; readonly path: string }): JSX.Element {
  const [whole, setWhole] = useState<string | null>(null)
  const [isReading, setReading] = useState(false)
  const { text, text_chars: chars } = of
  if (text === null) return <p class="quiet">{texts.noText}</p>
  const read = async () => {
    setReading(true)
    const answer = await call('GET', path)
    setReading(false)
    setWhole(answer.ok && typeof answer.body.text === 'string' ? answer.body.text : answer.problem)
  }
  if (whole !== null) return <Exact text={whole} label={texts.wholeText} whole />
  return (
    <>
      <Markdown text={chars === undefined ? text : `${text}…`} />
      {chars !== undefined && (
        <button type="button" class="link" disabled={isReading} onClick={() => void read()}>
          {words.parts.showAll({ count: chars })}
        </button>
      )}
    </>
  )
}

type Said = { readonly text: string | null; readonly text_chars?: number }

function TurnEntry({ one }: { readonly one: Extract<ThreadItem, { kind: 'turn' }> }): JSX.Element {
  return (
    <li class="said said-in">
      <p class="said-head">
        <strong>
          <Name text={one.sender_name ?? one.sender} />
        </strong>{' '}
        <Ago at={one.at} /> {one.late && <span class="tone-warn">{texts.late}</span>}
        {one.edit_version > 0 && <span class="quiet">{texts.edited}</span>}
      </p>
      <div class="bubble">
        <Words of={one} path={api('GET /api/turns/{id}', { path: { id: one.id } })} />
        {one.attachments.map((file) => (
          <p key={file.id} class="said-file">
            <ClipIcon /> <Name text={file.name ?? file.kind} />{' '}
            {file.size !== undefined && <span class="quiet">{formatSize(file.size)}</span>}
          </p>
        ))}
      </div>
      <p class="said-foot">
        <a href={hrefOf('turns', one.id)}>
          <Pill state={one.state} text={one.reason === null ? one.state : `${one.state}: ${one.reason}`} />
        </a>
        {one.attempts > 1 && <span>{texts.attempts({ count: one.attempts })}</span>}
        {one.repeat && <span>{texts.repeat}</span>}
        {one.usage !== undefined && <Cost usage={one.usage} />}
      </p>
      {one.approvals.map((ask) => (
        <p key={ask.seq} class="said-foot">
          <a href={hrefOf('approvals', ask.id)}>
            <Name text={ask.tool_name} />
          </a>
          <Pill state={ask.behavior ?? ask.state} />
          {ask.decided_by !== null && (
            <span>
              <Filled text={words.turn.decidedBy} parts={{ person: <Name text={ask.decided_by} /> }} />
            </span>
          )}
        </p>
      ))}
      {one.events.length > 0 && <ToolEvents events={one.events} />}
    </li>
  )
}

function SendEntry({ one }: { readonly one: Extract<ThreadItem, { kind: 'send' }> }): JSX.Element {
  const who = one.by ?? one.agent ?? (one.cause === 'operator' ? texts.operator : texts.gateway)
  const calm = one.state === 'sent' || one.state === 'deduplicated'
  return (
    <li class={`said said-out${one.by === null ? '' : ' said-person'}`}>
      <p class="said-head">
        <strong>
          <Name text={who} />
        </strong>{' '}
        {one.by !== null && <span class="quiet">{texts.asPerson}</span>}{' '}
        {one.cause !== 'reply' && one.by === null && <span class="quiet">{oneLine(one.cause, 30)}</span>}{' '}
        <Ago at={one.at} />
      </p>
      <div class="bubble">
        <Words of={one} path={api('GET /api/outbox/{id}', { path: { id: one.id } })} />
      </div>
      <p class="said-foot">
        <a href={hrefOf('outbox', one.id)}>
          <Pill state={one.state} text={one.receipt ?? one.state} />
        </a>
        {!calm && one.reason !== null && <span class="tone-bad">{reasonWords(one.reason)}</span>}
        {one.attempts > 1 && <span>{texts.attempts({ count: one.attempts })}</span>}
      </p>
    </li>
  )
}

export function askedWords(one: TakeoverView): string {
  if (one.asked === null) return ''
  const { by, reason } = one.asked
  const who = by.startsWith('agent:') ? texts.agent({ name: by.slice(6) }) : by
  return texts.asked({ who: oneLine(who, 60), reason: reason === null ? null : oneLine(reason, 300) })
}

function TakeoverLine({ one }: { readonly one: Extract<ThreadItem, { kind: 'takeover' }> }): JSX.Element {
  const name = oneLine(one.holder_name ?? one.holder ?? texts.somebody, 60)
  const shows = (mark: (typeof one.marks)[number]) => one.marks.includes(mark)
  return (
    <li class="said-note">
      {shows('asked') && <p>{askedWords(one)}</p>}
      {shows('asked') && one.asked !== null && one.asked.summary !== null && (
        <p class="quiet">{oneLine(one.asked.summary ?? '', 600)}</p>
      )}
      {shows('taken') && one.since !== null && (
        <p>
          <Filled text={texts.taken} parts={{ name, time: <Ago at={one.since} /> }} />
        </p>
      )}
      {shows('ended') && one.ended !== null && (
        <p>
          <Filled
            text={texts.ended[one.ended.how]}
            parts={{
              name: one.holder === null ? oneLine(one.ended.by, 60) : name,
              time: <Ago at={one.ended.at} />,
            }}
          />
        </p>
      )}
    </li>
  )
}
