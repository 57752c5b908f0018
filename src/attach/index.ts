// The frames between a shim and the daemon, both ends.
export { createAttachClient } from './attach-client.ts'
export { type AttachServer, createAttachServer } from './attach-server.ts'
export { socketLink } from './frame-link.ts'
export { attachUrl, remoteLink } from './remote-link.ts'
