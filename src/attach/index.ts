// The frames between a shim and the daemon, both ends.
export { type AttachClient, createAttachClient, openSocket } from './attach-client.ts'
export { type AttachServer, createAttachServer } from './attach-server.ts'
