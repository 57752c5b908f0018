// One message in the log, with its delivery state, its files and its buttons.
import type { JSX } from 'preact'
import { FileIcon, ReplyIcon } from '../shared/icons.tsx'
import { Markdown } from '../shared/markdown-view.tsx'
import { formatSize, formatTime, oneLine } from '../shared/text.ts'
import { ApprovalCard, Buttons } from './approval-card.tsx'
import { type Choice, deliveryOf, type Entry, type FileRef, type Tap } from './model.ts'

interface Props {
  readonly entry: Entry
  readonly edit: Entry | undefined
  readonly tap: Tap | undefined
  readonly online: boolean
  /** Follows one by the same speaker: drawn closer. */
  readonly follows: boolean
  readonly agent: string
  readonly onTap: (entry: Entry, choice: Choice) => void
  readonly onReply: (entry: Entry) => void
  readonly onDelete: (entry: Entry) => void
}

export function Message(props: Props): JSX.Element {
  const { entry, follows, agent } = props
  const own = entry.dir === 'in'
  const who = own ? 'You' : agent
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

function Own({ entry, online, onDelete }: Props): JSX.Element {
  const delivery = deliveryOf(entry, online)
  const empty = entry.text === '' && (entry.attachments?.length ?? 0) === 0
  return (
    <>
      {(entry.text !== '' || empty) && (
        <div class={`bubble${entry.unsent === true ? ' unsent' : ''}`} dir="auto">
          {empty ? (
            <em>{entry.reason === 'withdrawn' ? '(deleted)' : '(the text was not kept)'}</em>
          ) : (
            entry.text
          )}
        </div>
      )}
      <Files files={entry.attachments ?? []} />
      <p class={`meta tone-${delivery.tone}`}>
        <time dateTime={new Date(entry.at).toISOString()}>{formatTime(entry.at)}</time>
        <span class="meta-dot" aria-hidden="true">
          ·
        </span>
        <span class="delivery" data-state={entry.unsent === true ? 'unsent' : entry.state}>
          {delivery.words}
        </span>
        {entry.state === 'queued' && (
          <button
            type="button"
            class="link delete"
            onClick={() => onDelete(entry)}
            aria-label="Delete this message"
          >
            delete
          </button>
        )}
      </p>
    </>
  )
}

function Theirs({ entry, edit, tap, onTap, onReply }: Props): JSX.Element {
  if (entry.kind === 'prompt') {
    return <ApprovalCard entry={entry} edit={edit} tap={tap} onTap={(choice) => onTap(entry, choice)} />
  }
  const { text, plain } = edit ?? entry
  return (
    <>
      {entry.urgency === 'high' && <p class="urgent">Urgent</p>}
      {text !== '' && (
        <div class="bubble" dir="auto">
          {plain ? <p class="plain">{text}</p> : <Markdown text={text} />}
        </div>
      )}
      <Files files={entry.attachments ?? []} />
      {edit === undefined && <Buttons entry={entry} tap={tap} onTap={(choice) => onTap(entry, choice)} />}
      <p class="meta">
        <time dateTime={new Date(entry.at).toISOString()}>{formatTime(entry.at)}</time>
        {edit !== undefined && <span class="meta-dot">· edited</span>}
        <button
          type="button"
          class="link reply"
          onClick={() => onReply(entry)}
          aria-label="Reply to this message"
        >
          <ReplyIcon /> reply
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
