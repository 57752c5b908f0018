// One message in the log, with the quoted message, its files, its buttons and its state.
import type { ComponentChildren, JSX } from 'preact'
import { useState } from 'preact/hooks'
import { FileIcon, MARKS, ReplyIcon } from '../shared/icons.tsx'
import { Markdown } from '../shared/markdown-view.tsx'
import { formatSize, formatTime, oneLine } from '../shared/text.ts'
import { ApprovalCard, Buttons } from './approval-card.tsx'
import { type Choice, deliveryOf, type Entry, type FileRef, type Tap, tellsState } from './model.ts'
import { words } from './words.ts'

interface Props {
  readonly entry: Entry
  readonly edit: Entry | undefined
  readonly tap: Tap | undefined
  readonly online: boolean
  /** Whether it follows a message of the same speaker, so that it is drawn closer. */
  readonly follows: boolean
  /** The next message of its group. It shows the time, and the state if that is the same. */
  readonly next: Entry | null
  /** The message that it answers, if a quote is needed. Null: there is none, or it is the message before. */
  readonly quoted: Entry | 'earlier' | null
  readonly agent: string
  /** The reader's name at the gateway. */
  readonly self: string
  readonly onTap: (entry: Entry, choice: Choice) => void
  readonly onReply: (entry: Entry) => void
  readonly onDelete: (entry: Entry) => void
  readonly onShow: (id: string) => void
}

export function Message(props: Props): JSX.Element {
  const { entry, follows, agent } = props
  const own = entry.dir === 'in'
  const who = own ? words.message.you : agent
  return (
    <article
      class={`message ${own ? 'own' : 'theirs'}${follows ? ' follows' : ''}`}
      aria-label={`${who}, ${formatTime(entry.at)}`}
      data-id={entry.id}
    >
      {own ? <Own {...props} /> : <Theirs {...props} />}
    </article>
  )
}

function Own(props: Props): JSX.Element {
  const { entry, online, next, onDelete } = props
  const empty = entry.text === '' && (entry.attachments?.length ?? 0) === 0
  return (
    <>
      <Quote {...props} />
      {(entry.text !== '' || empty) && (
        <div class={`bubble${entry.unsent === true ? ' unsent' : ''}`} dir="auto">
          {empty ? (
            <em>{entry.reason === 'withdrawn' ? words.message.deleted : words.message.notKept}</em>
          ) : (
            entry.text
          )}
        </div>
      )}
      <Files files={entry.attachments ?? []} />
      {tellsState(entry, next, online) ? (
        <State entry={entry} online={online}>
          {entry.state === 'queued' && <Delete onDelete={() => onDelete(entry)} />}
        </State>
      ) : (
        entry.state === 'queued' && (
          <p class="meta meta-aside">
            <Delete onDelete={() => onDelete(entry)} />
          </p>
        )
      )}
    </>
  )
}

/** The time and a mark. The mark explains itself on demand. An error is shown without it. */
function State({
  entry,
  online,
  children,
}: Pick<Props, 'entry' | 'online'> & { readonly children: ComponentChildren }): JSX.Element {
  const [asked, setAsked] = useState(false)
  const { words: shown, meaning, mark, tone } = deliveryOf(entry, online)
  const state = entry.unsent === true ? 'unsent' : entry.state
  const Mark = MARKS[mark]
  return (
    <p class={`meta tone-${tone}`}>
      <Time at={entry.at} />
      <button
        type="button"
        class={`delivery mark-${mark}`}
        data-state={state}
        title={meaning}
        aria-expanded={asked}
        onClick={() => setAsked(!asked)}
      >
        <Mark />
        <span class={tone === 'bad' ? '' : 'hidden'}>{shown}</span>
      </button>
      {asked && tone !== 'bad' && (
        <span class="meaning" role="status">
          {meaning}
        </span>
      )}
      {children}
    </p>
  )
}

/** The sender may delete a message while it waits for the agent. */
function Delete({ onDelete }: { readonly onDelete: () => void }): JSX.Element {
  return (
    <button type="button" class="link delete" onClick={onDelete} aria-label={words.message.deleteLabel}>
      {words.message.delete}
    </button>
  )
}

function Time({ at }: { readonly at: number }): JSX.Element {
  return <time dateTime={new Date(at).toISOString()}>{formatTime(at)}</time>
}

function Quote({ quoted, agent, onShow }: Props): JSX.Element | null {
  if (quoted === null) return null
  if (quoted === 'earlier') return <p class="quote">{words.message.earlier}</p>
  return (
    <button type="button" class="quote" onClick={() => onShow(quoted.id)}>
      <bdi class="quote-who">{quoted.dir === 'in' ? words.message.you : agent}</bdi>
      <bdi class="quote-text">{oneLine(quoted.text === '' ? words.message.file : quoted.text, 140)}</bdi>
    </button>
  )
}

function Theirs(props: Props): JSX.Element {
  const { entry, edit, tap, next, self, onTap, onReply } = props
  if (entry.kind === 'prompt') {
    return (
      <ApprovalCard
        entry={entry}
        edit={edit}
        tap={tap}
        self={self}
        onTap={(choice) => onTap(entry, choice)}
      />
    )
  }
  const { text, plain } = edit ?? entry
  return (
    <>
      <Quote {...props} />
      {entry.urgency === 'high' && <p class="urgent">{words.message.urgent}</p>}
      {text !== '' && (
        <div class="bubble" dir="auto">
          {plain ? <p class="plain">{text}</p> : <Markdown text={text} />}
        </div>
      )}
      <Files files={entry.attachments ?? []} />
      {edit === undefined && <Buttons entry={entry} tap={tap} onTap={(choice) => onTap(entry, choice)} />}
      <p class={next === null ? 'meta' : 'meta meta-aside'}>
        {next === null && <Time at={entry.at} />}
        {edit !== undefined && <span>{words.message.edited}</span>}
        <button
          type="button"
          class="link reply"
          onClick={() => onReply(entry)}
          aria-label={words.message.replyLabel}
        >
          <ReplyIcon /> {words.message.reply}
        </button>
      </p>
    </>
  )
}

function Files({ files }: { readonly files: readonly FileRef[] }): JSX.Element | null {
  if (files.length === 0) return null
  return (
    <ul class="files">
      {files.map((file) => (
        <li key={file.id}>
          <a href={`/chat/files/${file.id}`} download={file.name} class={drawn(file) ? 'file-image' : 'file'}>
            {drawn(file) ? (
              <img src={`/chat/files/${file.id}`} alt={oneLine(file.name)} loading="lazy" />
            ) : (
              <>
                <FileIcon />
                <bdi class="file-name">{oneLine(file.name)}</bdi>
                {file.size > 0 && <span class="file-size">{formatSize(file.size)}</span>}
              </>
            )}
          </a>
        </li>
      ))}
    </ul>
  )
}

function drawn(file: FileRef): boolean {
  return /^image\/(png|jpeg|gif|webp|avif)$/.test(file.mime)
}
