package refstack.bindings;

/** A call in the process, by reference, in the caller's thread. */
record DirectBinding(Receiver receiver) implements Binding {

    @Override
    public String way() {
        return "direct";
    }

    @Override
    public Reply call(Payload payload) {
        return receiver.receive(way(), payload);
    }
}
