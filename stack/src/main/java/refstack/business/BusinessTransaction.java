package refstack.business;

/** What users can ask for: signing on and off, and the 17 transactions of the mix. */
enum BusinessTransaction {

    SIGN_ON("sign-on", "Signed on"),
    SIGN_OFF("sign-off", "Signed off"),
    CUSTOMER_SEARCH("customer-search", "Customers"),
    CUSTOMER("customer", "Customer"),
    DRAFT_START("draft-start", "New order"),
    ITEM_SEARCH("item-search", "Items"),
    ITEM("item", "Item"),
    AVAILABILITY("availability", "Availability"),
    DRAFT_LINE("draft-line", "Line of the order"),
    DRAFT("draft", "Order in progress"),
    PLACE_ORDER("place-order", "Order placed"),
    ORDER("order", "Order"),
    ORDERS("orders", "Open orders"),
    SHIP("ship", "Shipment"),
    RECEIVE("receive", "Receipt of goods"),
    ACCOUNT("account", "Account"),
    JOURNAL("journal", "Journal entry"),
    PAY("pay", "Payment"),
    SALES_REPORT("sales-report", "Sales report");

    private final String label;
    private final String title;

    BusinessTransaction(String label, String title) {
        this.label = label;
        this.title = title;
    }

    /** Name in pages and metrics. */
    String label() {
        return label;
    }

    /** Heading of its page. */
    String title() {
        return title;
    }
}
